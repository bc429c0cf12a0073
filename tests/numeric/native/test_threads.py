"""Threads: as many as torch uses, from the team that torch has; none is missed after a fork."""

import pytest

LARGE = """
import os, sys, torch
from exptx.numeric import native
from exptx.numeric.native import threads

torch.set_num_threads(2)
x = torch.randn(2, 8, 512, 64)
cos, sin = torch.randn(512, 32), torch.randn(512, 32)
out, known = torch.empty_like(x), torch.empty_like(x)

def turn(y):
    native.rotary(x, y, cos, sin)

def tasks():
    return len(os.listdir("/proc/self/task")) if sys.platform == "linux" else 0

def wait_for(child):
    import time
    for _ in range(600):
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return status
        time.sleep(0.1)
    os.kill(child, 9)
    raise SystemExit("the child never ends")
"""


def test_one_thread_and_many_give_the_same(answer):
    code = """
torch.set_num_threads(1)
turn(known)
same = []
for n in (2, 3, 7):
    torch.set_num_threads(n)
    turn(out.fill_(0))
    same.append(torch.equal(out, known))
print(same)
"""
    assert answer(LARGE + code) == "[True, True, True]"


def test_no_thread_is_started_beside_those_of_torch(answer):
    code = """
torch.ones(10**7).add_(1)
before = tasks()
for _ in range(20):
    turn(out)
print(threads.team() is None or tasks() == before)
"""
    assert answer(LARGE + code) == "True"


def test_a_team_has_as_many_threads_as_torch_says(answer):
    """A team that only notes how many it is asked for, in the place of the one that torch has."""
    code = """
import ctypes
from exptx.numeric.native import plan
from exptx.symbolic.lowering import shape_program

asked = []
WORK = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
@ctypes.CFUNCTYPE(None, WORK, ctypes.c_void_p, ctypes.c_uint, ctypes.c_uint)
def noting(work, shared, count, flags):
    asked.append(count)
    work(shared)

turn(known)
plan.team = lambda: ctypes.cast(noting, ctypes.c_void_p).value
plan.function.cache_clear()
turned = native.Native(shape_program(1, turns=True, fades=False))
for n in (1, 2, 3, 4):
    torch.set_num_threads(n)
    turned(x, out.fill_(0), (cos, sin))
    assert torch.equal(out, known)
turned(x[:, :, :2], out[:, :, :2], (cos[:2], sin[:2]))  # too little to share
print(asked)
"""
    assert answer(LARGE + code) == "[2, 3, 4]"


def test_with_one_thread_none_is_started(answer):
    code = """
torch.set_num_threads(1)
before = tasks()
turn(out)
print(tasks() == before)
"""
    assert answer(LARGE + code) == "True"


@pytest.mark.parametrize("first", ["turn(known)", "torch.ones(10**7).add_(1)", "pass"])
def test_a_forked_process_neither_hangs_nor_errs(first, answer):
    """After the team was at work, after torch alone used it, and before anybody did."""
    code = f"""
{first}
child = os.fork()
if not child:
    turn(out)  # by two threads; what torch itself does with many numbers may wait for ever here
    small = torch.empty(1, 1, 1, 64)
    native.rotary(x[1:, 7:, 511:], small, cos[511:], sin[511:])
    os._exit(0 if torch.get_num_threads() == 2 and torch.equal(out[1:, 7:, 511:], small) else 1)
status = wait_for(child)
turn(known)
print(status)
"""
    assert answer(LARGE + code) == "0"


def test_a_process_forked_before_the_first_kernel_starts_no_team(answer):
    code = """
import os, time, torch
torch.ones(10**7).add_(1)
x, cos, sin = torch.randn(2, 8, 512, 64), torch.ones(512, 32), torch.zeros(512, 32)
out = torch.empty_like(x)
child = os.fork()
if not child:
    from exptx.numeric import native
    from exptx.numeric.native import threads
    native.rotary(x, out, cos, sin)
    os._exit(0 if threads.team() is None and torch.equal(out[1, 7, 511], x[1, 7, 511]) else 1)
for _ in range(600):
    done, status = os.waitpid(child, os.WNOHANG)
    if done:
        break
    time.sleep(0.1)
else:
    os.kill(child, 9)
print(done and status)
"""
    assert answer(code) == "0"


def test_workers_of_a_data_loader_turn_what_they_load(answer):
    code = """
class Turned(torch.utils.data.Dataset):
    def __len__(self):
        return 4
    def __getitem__(self, i):
        y = torch.empty_like(x)
        native.rotary(x, y, cos, sin)
        return y[0, 0, 0]

turn(known)
loader = torch.utils.data.DataLoader(Turned(), num_workers=2, multiprocessing_context="fork", timeout=60)
print(all(torch.equal(y[0], known[0, 0, 0]) for y in loader))
"""
    assert answer(LARGE + code) == "True"


def test_threads_of_python_turn_at_the_same_time(answer):
    code = """
from concurrent.futures import ThreadPoolExecutor
turn(known)
def one(_):
    y = torch.empty_like(x)
    native.rotary(x, y, cos, sin)
    return torch.equal(y, known)
with ThreadPoolExecutor(4) as pool:
    print(all(pool.map(one, range(40))))
"""
    assert answer(LARGE + code) == "True"


def test_without_a_team_kernels_start_threads_of_their_own(answer):
    code = """
turn(known)
from exptx.numeric.native import plan
plan.team = lambda: None
plan.function.cache_clear()
from exptx.symbolic.lowering import shape_program
alone = native.Native(shape_program(1, turns=True, fades=False))
alone(x, out, (cos, sin))
print(torch.equal(out, known))
"""
    assert answer(LARGE + code) == "True"
