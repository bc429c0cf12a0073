"""The pytest plugin: subjects named in `exptx_subjects` or by `--exptx` become tests, one a subject.

pytest loads this file in every session of everyone who has the package, so that it imports nothing heavy.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

LEVELS = ("quick", "full")


def pytest_addoption(parser: pytest.Parser) -> None:
    """--exptx, and the ini keys exptx_subjects, exptx_level and exptx_seconds."""
    group = parser.getgroup("exptx", "positional encodings held to their laws")
    group.addoption(
        "--exptx",
        action="append",
        default=[],
        metavar="TARGET",
        help="examine file.py:OBJECT or package.module:OBJECT; repeatable",
    )
    parser.addini("exptx_subjects", "targets that every run examines, one a line", "linelist")
    parser.addini("exptx_level", "quick or full", default="quick")
    parser.addini("exptx_seconds", "the time of one subject, imports included", default="120")


def pytest_configure(config: pytest.Config) -> None:
    """UsageError for a level that is none, or for seconds that are no number."""
    if config.getini("exptx_level") not in LEVELS:
        raise pytest.UsageError(f"exptx_level is {config.getini('exptx_level')!r}; quick or full works")
    try:
        float(config.getini("exptx_seconds"))
    except ValueError:
        given = config.getini("exptx_seconds")
        raise pytest.UsageError(f"exptx_seconds is {given!r}; a number of seconds works") from None


@pytest.hookimpl(tryfirst=True)  # before -k and -m choose
def pytest_collection_modifyitems(
    session: pytest.Session, config: pytest.Config, items: list[pytest.Item]
) -> None:
    """One more test for each subject, after those of the project."""
    targets = dict.fromkeys((*config.getini("exptx_subjects"), *config.getoption("--exptx")))
    items.extend(
        Examination.from_parent(session, name=f"exptx::{target}", target=target) for target in targets
    )


class Found(Exception):
    """What a subject was found to do: the text of the examination."""


class Examination(pytest.Item):
    """A subject, examined in a process of its own."""

    def __init__(self, *, target: str, **more: Any):
        super().__init__(**more)
        self.target = target

    def runtest(self) -> None:
        """Found where a law is broken, or a failure that was expected did not occur."""
        from .doctor import isolated
        from .doctor.lines import lines

        seconds = float(self.config.getini("exptx_seconds"))
        request = isolated.Request(level=self.config.getini("exptx_level"))
        found = isolated.examine(placed(self.target, self.config.rootpath), request, seconds)
        if not found["ok"]:
            raise Found("\n".join(lines(found)))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The examination as text; one sentence for what is no subject; a traceback for our own faults."""
        from ..symbolic.errors import ExptxError

        if isinstance(excinfo.value, (Found, ExptxError)):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """The heading of a failure."""
        return self.path, None, f"exptx {self.target}"


def placed(target: str, root: Path) -> str:
    """A file below the root of the project as an absolute path, wherever pytest was started."""
    place, colon, name = target.rpartition(":")
    found = root / place
    return f"{found}:{name}" if colon and place.endswith(".py") and found.is_file() else target
