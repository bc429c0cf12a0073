"""Known findings in a file: each accepted for a reason, and itself a finding once it is gone."""

from __future__ import annotations

from pathlib import Path

from ..errors import BadFile
from ..inspection.config_file import read_config_file
from .codes import CODES


def reasons(path: Path, target: str) -> dict[str, str]:
    """Code -> reason, of the entries for a target; the file is {"known": [{"code", "reason", "subject"}, …]}.

    subject: the target as it is written on the command line; an entry without one is for all. BadFile for
    anything else, UnknownPath where there is no file.
    """
    found = read_config_file(path)
    entries = found.get("known") if isinstance(found, dict) else None
    if not isinstance(entries, list):
        raise BadFile(f'{path} has no list "known"; {{"known": [{{"code": …, "reason": …}}]}} works')
    accepted = {}
    for entry in entries:
        if not isinstance(entry, dict) or entry.keys() - {"code", "reason", "subject"}:
            raise BadFile(f"{path} has the entry {entry!r}; an object of code, reason and subject works")
        if entry.get("code") not in CODES:
            raise BadFile(f"{path} has the code {entry.get('code')!r}; exptx explain lists those there are")
        if not (isinstance(entry.get("reason"), str) and entry["reason"].strip()):
            raise BadFile(f"{path} accepts {entry['code']!r} without a reason; a sentence works")
        if entry.get("subject") in (None, target):
            accepted[entry["code"]] = entry["reason"]
    return accepted
