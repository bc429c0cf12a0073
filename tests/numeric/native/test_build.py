"""The cache of compiled kernels may be shared, broken, foreign or closed, and the compiler missing."""

import os
import resource
import stat
import sys
from pathlib import Path

import pytest
from exptx.numeric import NotBuilt
from exptx.numeric.native import build
from exptx.numeric.native.source import Kernel, source
from exptx.symbolic.lowering import shape_program

SOURCE = "int answer(void) { return 42; }\n"
TURN = """
import torch
from exptx.numeric import native
x = torch.tensor([3.0, 4.0]).view(1, 1, 1, 2)
native.rotary(x, x, torch.tensor([[0.0]]), torch.tensor([[1.0]]))
print(x.flatten().tolist() == [-4.0, 3.0])
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The cache folder of this process for the length of a test."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(build, "user_cache_path", lambda name: tmp_path / name)
    return tmp_path / "exptx" / "native"


@pytest.fixture
def compilations(monkeypatch):
    """Every compilation from now on, by the folder it goes to."""
    found, compiled = [], build._build

    def counted(folder, *rest):
        found.append(folder)
        return compiled(folder, *rest)

    monkeypatch.setattr(build, "_build", counted)
    return found


def libraries(folder):
    return sorted(path for path in folder.iterdir() if path.suffix == ".so")


def test_a_library_is_compiled_once_and_kept_for_its_user_only(folder, compilations):
    for _ in range(3):
        assert build.load(SOURCE).answer() == 42
    assert compilations == [folder]
    assert len(libraries(folder)) == 1
    assert {path.name for path in folder.iterdir()} - {path.name for path in libraries(folder)} == {"lock"}
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: content[: len(content) // 2],
        lambda content: b"",
        lambda content: content[:-1] + bytes([content[-1] ^ 1]),
        lambda content: b"\x7fELF of somebody else",
        lambda content: Path(sys.executable).read_bytes()[:50_000],
    ],
    ids=["truncated", "empty", "one bit", "foreign", "another program"],
)
def test_a_damaged_library_is_compiled_again(damage, folder, compilations):
    build.load(SOURCE)
    (path,) = libraries(folder)
    content = path.read_bytes()
    damaged = path.with_suffix(".new")
    damaged.write_bytes(damage(content))
    os.replace(damaged, path)  # the old one stays mapped in this process
    assert build.load(SOURCE).answer() == 42
    assert len(compilations) == 2
    assert [found.read_bytes() for found in libraries(folder)] == [content]


def test_a_library_that_only_has_the_right_name_is_not_loaded(folder, compilations):
    """The digest is that of its content, but no loader takes it: compiled apart, used, and left alone."""
    build.load(SOURCE)
    (path,) = libraries(folder)
    key, content = path.name.partition("-")[0], b"no library at all"
    path.unlink()
    (folder / build._name(key, content)).write_bytes(content)
    assert build.load(SOURCE).answer() == 42
    assert compilations[-1] != folder
    assert not compilations[-1].exists()


def test_source_flags_compiler_and_processor_make_the_key(folder, monkeypatch):
    def keys():
        return {path.name.partition("-")[0] for path in libraries(folder)}

    build.load(SOURCE)
    assert len(keys()) == 1
    build.load(SOURCE + "int other;\n")
    assert len(keys()) == 2
    monkeypatch.setattr(build, "FLAGS", (*build.FLAGS, "-DOTHER"))
    build.load(SOURCE)
    assert len(keys()) == 3
    known = build.find_compiler()
    for i, word in enumerate(("__VERSION__", "__x86_64__" if "__x86_64__" in known.identity else "__STDC__")):
        other = build.Compiler(known.command, known.identity.replace(word, "__ANOTHER__"))
        assert other != known
        monkeypatch.setattr(build, "find_compiler", lambda other=other: other)
        build.load(SOURCE)
        assert len(keys()) == 4 + i


def test_what_the_processor_can_do_is_part_of_the_identity(monkeypatch):
    if os.uname().machine != "x86_64":
        flags = ("-O0",), ("-O0", "-DWITH_SOMETHING")
    else:
        flags = ("-march=x86-64",), ("-march=x86-64-v3",)
    found = set()
    for flag in flags:
        monkeypatch.setattr(build, "NATIVE", (flag[-1],))
        build.find_compiler.cache_clear()
        found.add(build.find_compiler().identity)
    build.find_compiler.cache_clear()
    assert len(found) == 2


@pytest.mark.parametrize("obstacle", ["a file", "no folder", "written by others", "not ours", "no path"])
def test_where_the_cache_cannot_be_used_kernels_are_compiled_apart(
    obstacle, folder, compilations, monkeypatch
):
    if obstacle == "a file":
        folder.parent.write_text("in the way")
    elif obstacle == "no folder":
        monkeypatch.setattr(build, "user_cache_path", lambda name: Path("/proc/nothing") / name)
    elif obstacle == "written by others":
        folder.mkdir(parents=True)
        folder.chmod(0o777)
    elif obstacle == "not ours":
        folder.mkdir(parents=True)
        monkeypatch.setattr(os, "geteuid", lambda: 12345)
        monkeypatch.setattr(Path, "stat", lambda self, real=Path.stat, **way: owned(real(self, **way)))
    else:
        monkeypatch.setattr(build, "user_cache_path", lambda name: Path("~") / name)
        monkeypatch.chdir(folder.parent.parent)
    assert build.cache_folder() is None
    assert build.load(SOURCE).answer() == 42
    assert [path.exists() for path in compilations] == [False]
    assert not folder.exists() or not list(folder.iterdir())


def owned(found):
    """The same, of another user's file."""
    return os.stat_result((*found[:4], 4321, *found[5:10]))


def test_where_nothing_can_be_written_what_is_kept_is_still_used(folder, compilations, monkeypatch):
    build.load(SOURCE)

    def refuse(*_, **__):
        raise PermissionError("read-only file system")

    monkeypatch.setattr(build, "_locked", refuse)
    assert build.load(SOURCE).answer() == 42
    assert compilations == [folder]
    assert build.load(SOURCE + "\n").answer() == 42
    assert compilations[1] != folder


def test_without_locks_of_the_file_system_it_goes_on(folder, monkeypatch):
    def refuse(*_):
        raise OSError("no locks available")

    monkeypatch.setattr(build.fcntl, "flock", refuse)
    assert build.load(SOURCE).answer() == 42
    assert len(libraries(folder)) == 1


def test_a_lock_that_is_never_given_back_is_not_waited_for_for_ever(folder, monkeypatch):
    folder.mkdir(parents=True, mode=0o700)
    monkeypatch.setattr(build, "_SECONDS", 0.2)
    monkeypatch.setattr(build, "_run", lambda *a, run=build._run: run_patiently(run, *a))
    with open(folder / "lock", "w") as held:
        build.fcntl.flock(held, build.fcntl.LOCK_EX)
        assert build.load(SOURCE).answer() == 42


def run_patiently(run, *arguments):
    """The compiler has its own time."""
    build._SECONDS, kept = 60, build._SECONDS
    try:
        return run(*arguments)
    finally:
        build._SECONDS = kept


def test_processes_that_start_at_once_compile_once_and_all_run(python, tmp_path):
    """A compiler that leaves a trace of each call stands before the real one."""
    command = build.find_compiler().command[0]
    traced = tmp_path / "traced"
    traced.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/calls\nexec {command} "$@"\n')
    traced.chmod(0o755)
    started = [python(TURN, CC=str(traced)) for _ in range(3)]
    for process in started:
        out, err = process.communicate(timeout=120)
        assert (process.returncode, out.strip()) == (0, "True"), err
    calls = (tmp_path / "calls").read_text().splitlines()
    assert sum("-shared" in call for call in calls) == 1


SAYS = """
from exptx.numeric import NotBuilt, native, rotary_embedding
import torch
reason = native.available()
x, table = torch.ones(1, 1, 1, 2), torch.ones(1, 1)
try:
    native.rotary(x, x, table, table)
except NotBuilt as error:
    assert str(error) == reason
    print(reason)
"""


def test_without_a_compiler_the_reason_says_what_to_install(answer, tmp_path):
    empty = tmp_path / "empty"
    empty.mkdir()
    said = answer(SAYS, PATH=str(empty), CC="")
    assert said == f"neither cc, gcc nor clang is there; {build.INSTALL}"
    assert "apt-get install gcc libc6-dev" in said


def test_a_compiler_that_is_named_and_not_there_is_named_in_the_reason(answer):
    assert (
        answer(SAYS, CC="/no/such/cc -O1") == f"$CC is '/no/such/cc -O1', which is not there; {build.INSTALL}"
    )


def test_a_kernel_needs_nothing_but_the_c_library(folder):
    """Its file names no library of torch, Python or OpenMP: it survives an update of any of them."""
    build.load(source(Kernel(shape_program(1, turns=True, fades=False), "bfloat16", False)))
    (path,) = libraries(folder)
    content = path.read_bytes()
    assert not [name for name in (b"torch", b"libc10", b"ython", b"libgomp", b"GOMP") if name in content]


def test_a_command_whose_quotation_does_not_end_is_no_compiler(answer):
    assert answer(SAYS, CC='gcc "') == f"$CC is 'gcc \"', which is not there; {build.INSTALL}"


def test_where_no_folder_at_all_can_be_written_the_reason_says_so(answer):
    nowhere = "import tempfile\ntempfile._candidate_tempdir_list = lambda: ['/proc/nothing']\n"
    said = answer(nowhere + SAYS, XDG_CACHE_HOME="/proc/nothing")
    assert said.startswith("a compiled kernel cannot be kept or loaded: ")
    assert "No usable temporary directory" in said


def test_a_compiler_that_fails_is_quoted(answer, tmp_path):
    broken = tmp_path / "broken"
    broken.write_text(
        '#!/bin/sh\necho "note: hello" >&2\necho "fatal error: stdint.h: No such file" >&2\nexit 1\n'
    )
    broken.chmod(0o755)
    said = answer(SAYS, CC=str(broken))
    assert "fatal error: stdint.h: No such file" in said
    assert said.endswith(build.INSTALL)


def test_a_compiler_given_with_its_options_is_used_with_them(answer, tmp_path):
    trace, command = tmp_path / "trace", build.find_compiler().command[0]
    wrapped = tmp_path / "wrapped"
    wrapped.write_text(f'#!/bin/sh\necho "$@" >> {trace}\nexec {command} "$@"\n')
    wrapped.chmod(0o755)
    assert answer(TURN, CC=f"{wrapped} -DNAMED") == "True"
    assert all("-DNAMED" in line for line in trace.read_text().splitlines())


def test_elsewhere_than_on_posix_the_reason_says_so(monkeypatch):
    build.find_compiler.cache_clear()
    monkeypatch.setattr(build, "fcntl", None)
    with pytest.raises(NotBuilt, match="native kernels need a POSIX system, and this is"):
        build.find_compiler()
    build.find_compiler.cache_clear()


@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16", "float16"])
@pytest.mark.parametrize("interleaved", [False, True])
def test_a_kernel_is_compiled_in_well_under_a_second(dtype, interleaved, folder):
    """Processor time of the compiler alone, for a rotation."""
    text = source(Kernel(shape_program(1, turns=True, fades=False), dtype, interleaved))
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    build.load(text)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert after.ru_utime - before.ru_utime < 1.0
