"""What is left when the command line is interrupted: one sentence and status 130."""

import sys

import pytest
from exptx.proofs import cli, console


def test_an_interruption_says_one_sentence(monkeypatch, capsys, tmp_path):
    def interrupted(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(console, "report", interrupted)
    monkeypatch.setattr(sys, "argv", ["exptx", "report", "--out", str(tmp_path)])
    with pytest.raises(SystemExit) as leaving:
        cli.main()
    assert leaving.value.code == 130
    assert capsys.readouterr().err == "exptx: interrupted; nothing was left half-written\n"


def test_other_statuses_pass_through(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(console, "report", lambda _: False)
    monkeypatch.setattr(sys, "argv", ["exptx", "report", "--out", str(tmp_path)])
    with pytest.raises(SystemExit) as leaving:
        cli.main()
    assert leaving.value.code == 1
    assert "interrupted" not in capsys.readouterr().err
