"""A task in a process of its own: its answer, its refusal, and an end to it at either limit."""

from __future__ import annotations

import os
import time

import pytest
from exptx.proofs.errors import Stopped
from exptx.proofs.worker import within
from exptx.symbolic import Unreadable, parse


def test_an_answer_and_a_refusal_come_back():
    assert within(60, 2000, divmod, 7, 2) == (3, 1)
    with pytest.raises(Unreadable, match="column 2"):
        within(60, 2000, parse, "2x")


def test_a_task_is_stopped_at_either_limit():
    began = time.monotonic()
    with pytest.raises(Stopped, match=r"stopped after 0\.2 s"):
        within(0.2, 2000, time.sleep, 60)
    assert time.monotonic() - began < 20
    with pytest.raises(Stopped, match="stopped at 900 MB"):
        within(60, 900, bytearray, 10**9)


def test_a_task_that_dies_is_said_to_have_died():
    with pytest.raises(Stopped, match="died"):
        within(60, 2000, os._exit, 7)


def test_a_number_of_any_length_is_written_there():
    assert len(within(60, 2000, str, 10**5000)) == 5001
