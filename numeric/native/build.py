"""From C source to a loaded library: the compiler of the system, and a cache that may be broken at any time.

A library is kept in the user's cache folder under a key of its source, the flags, the compiler and the
processor, and its name holds the digest of its content: what is truncated, foreign or changed has the wrong
name and is compiled again. It is written under another name and renamed, so two processes never see half of
it. Where the folder cannot be used, libraries live in a private temporary folder until they are loaded.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from platformdirs import user_cache_path

from ..errors import NotBuilt

fcntl: Any = import_module("fcntl") if find_spec("fcntl") else None  # POSIX systems have it

# The loops are written as vectors, so the compiler need not look for any; no product may be fused with a sum,
# so that the result is that of the formula as it stands, bit for bit the same on every processor.
FLAGS = (
    "-std=c99", "-O3", "-fno-tree-vectorize", "-fno-tree-slp-vectorize", "-ffp-contract=off",
    "-fPIC", "-shared", "-pthread",
)  # fmt: skip
NATIVE = ("-march=native", "-mcpu=native")  # the first that the compiler takes
INSTALL = (
    "install a C compiler (Debian, Ubuntu: apt-get install gcc libc6-dev; macOS: xcode-select --install)"
)
_SECONDS = 120


@dataclass(frozen=True)
class Compiler:
    """A command that compiles for this processor, and all that its results depend on."""

    command: tuple[str, ...]
    identity: str


@lru_cache(maxsize=1)
def find_compiler() -> Compiler:
    """$CC, or the first of cc, gcc and clang; NotBuilt if there is none, with what to install."""
    if fcntl is None:
        raise NotBuilt(f"native kernels need a POSIX system, and this is {sys.platform}")
    named = os.environ.get("CC", "").strip()
    command = _words(named) if named else next(filter(None, map(_found, ("cc", "gcc", "clang"))), None)
    if not command or not shutil.which(command[0]):
        what = f"$CC is {named!r}, which is not there" if named else "neither cc, gcc nor clang is there"
        raise NotBuilt(f"{what}; {INSTALL}")
    said = ""
    for flag in NATIVE:
        # The macros that stand before the first line: version of the compiler, and what the processor can do.
        answer = _run([*command, flag, "-dM", "-E", "-x", "c", os.devnull])
        if answer.returncode == 0:
            machine = (sys.platform, platform.machine(), *platform.libc_ver())
            return Compiler((*command, flag), "\n".join([*machine, shlex.join(command), answer.stdout]))
        said = said or answer.stderr
    raise NotBuilt(f"{command[0]} does not work: {_error(said)}; {INSTALL}")


def _words(command: str) -> list[str]:
    """The words of a command line; none where a quotation in it does not end."""
    try:
        return shlex.split(command)
    except ValueError:
        return []


def _found(name: str) -> list[str] | None:
    return [name] if shutil.which(name) else None


def _run(command: list[str], text: str | None = None) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            command,
            input=text,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
            errors="replace",
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return subprocess.CompletedProcess(command, 1, "", str(error))


def _error(text: str) -> str:
    """The first line of what a compiler said that speaks of an error, or else the first."""
    lines = [line.strip() for line in text.splitlines() if "error" in line] or text.strip().splitlines()
    return lines[0] if lines else "it says nothing"


def load(source: str) -> ctypes.CDLL:
    """The library of a C source, from the cache or compiled now; NotBuilt if it cannot be compiled."""
    compiler = find_compiler()
    words = "\0".join([source, *FLAGS, *compiler.command, compiler.identity])
    key = hashlib.sha256(words.encode()).hexdigest()[:32]
    folder = cache_folder()
    if folder is not None:
        with suppress(OSError):  # the folder is full, or code may not be run from it
            return _from_cache(folder, key, compiler, source)
    try:
        with tempfile.TemporaryDirectory(prefix="exptx-") as private:
            return ctypes.CDLL(str(_build(Path(private), key, compiler, source)))
    except OSError as error:  # also where no folder can be written
        raise NotBuilt(f"a compiled kernel cannot be kept or loaded: {error}") from error


def cache_folder() -> Path | None:
    """Where libraries are kept; None unless it is, or can be made, a folder that nobody else writes to."""
    folder = user_cache_path("exptx") / "native"
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        found = folder.stat()
    except OSError:
        return None
    trusted = found.st_uid in (0, os.geteuid()) and not found.st_mode & 0o022
    return folder if trusted and folder.is_absolute() else None


def _from_cache(folder: Path, key: str, compiler: Compiler, source: str) -> ctypes.CDLL:
    with suppress(OSError):
        if (path := _kept(folder, key)) is not None:
            return ctypes.CDLL(str(path))
    with _locked(folder):
        path = _kept(folder, key) or _build(folder, key, compiler, source)
        return ctypes.CDLL(str(path))


def _kept(folder: Path, key: str) -> Path | None:
    """The library of that key whose content is what its name says; others of that key are removed."""
    for path in folder.glob(f"{key}-*.so"):
        if path.name == _name(key, path.read_bytes()):
            return path
        path.unlink(missing_ok=True)
    return None


def _name(key: str, content: bytes) -> str:
    return f"{key}-{hashlib.sha256(content).hexdigest()[:32]}.so"


def _build(folder: Path, key: str, compiler: Compiler, source: str) -> Path:
    """Compile under a name of its own, then rename."""
    handle, name = tempfile.mkstemp(prefix="building-", suffix=".so", dir=folder)
    os.close(handle)
    try:
        done = _run([*compiler.command, *FLAGS, "-x", "c", "-", "-o", name], source)
        if done.returncode:
            raise NotBuilt(f"{compiler.command[0]} cannot compile: {_error(done.stderr)}; {INSTALL}")
        path = folder / _name(key, Path(name).read_bytes())
        os.replace(name, path)
        return path
    finally:
        Path(name).unlink(missing_ok=True)


@contextmanager
def _locked(folder: Path) -> Generator[None]:
    """One process at a time, so that a kernel is compiled once; without locks, or after long, it goes on."""
    with open(folder / "lock", "w") as lock:
        deadline = time.monotonic() + _SECONDS
        while time.monotonic() < deadline:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                time.sleep(0.01)
            except OSError:  # the file system knows no locks
                break
        yield


__all__ = ["FLAGS", "INSTALL", "Compiler", "cache_folder", "find_compiler", "load"]
