"""One task in a process of its own, so that a limit on time or memory stops it whatever it is doing."""

from __future__ import annotations

import math
import multiprocessing
import signal
import sys
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

from ..symbolic.errors import ExptxError
from .errors import Stopped


def within(seconds: float, megabytes: int, task: Callable[..., Any], *arguments: Any) -> Any:
    """task(*arguments), worked out in another process; task, arguments and answer travel between the two.

    Errors: what the task raises, if an ExptxError; Stopped at the limit, or when the process dies.
    """
    fresh = multiprocessing.get_context("spawn")  # a fork would copy threads that hold locks
    receiver, sender = fresh.Pipe(duplex=False)
    limits = (math.ceil(seconds) + 1, megabytes)
    process = fresh.Process(target=_work, args=(sender, limits, task, arguments), daemon=True)
    process.start()
    sender.close()
    try:
        if not receiver.poll(seconds):
            raise Stopped(f"stopped after {seconds:g} s; a larger --seconds may do")
        answer, refusal = receiver.recv()
    except EOFError:
        process.join()
        raise Stopped(f"the computation died (status {process.exitcode}) without an answer") from None
    finally:
        process.kill()
        process.join()
        receiver.close()
    if refusal is not None:
        raise refusal
    return answer


def _work(sender: Connection, limits: tuple[int, int], task: Callable[..., Any], arguments: Any) -> None:
    seconds, megabytes = limits
    sys.set_int_max_str_digits(0)  # numbers of any length are written here: the limits below are enough
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interruption is the parent's business
    if hasattr(signal, "alarm"):
        signal.alarm(seconds)  # ends the process also when nobody waits for it any more
    try:
        _limit_memory(megabytes)
        sender.send((task(*arguments), None))
    except MemoryError:
        sender.send((None, Stopped(f"stopped at {megabytes} MB; a larger --megabytes may do")))
    except RecursionError:
        sender.send((None, Stopped("nested too deeply to be worked out; use symbols for inner parts")))
    except ExptxError as refusal:
        sender.send((None, refusal))


def _limit_memory(megabytes: int) -> None:
    try:
        import resource
    except ImportError:  # not on Windows
        return
    resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))
