"""Triton source: the statements of the program as they were proved, and what is made of it for GPUs."""

import dataclasses
import re

import pytest
import torch
from exptx.numeric import native, triton
from exptx.numeric.triton.plan import WARPS
from exptx.numeric.triton.source import Kernel, source
from exptx.numeric.validation import compute_dtype
from exptx.symbolic import Status
from exptx.symbolic.lowering import shape_program
from exptx.symbolic.program import Term
from exptx.symbolic.readback import statements_in, verify_statements
from triton.backends.compiler import GPUTarget
from triton.runtime import driver

DTYPES = ["float64", "float32", "bfloat16", "float16"]
TURN, TURN_BACK = (shape_program(1, turns=True, fades=False, transpose=back) for back in (False, True))


def statements(text):
    """What stands in the function `turned`, read from the text."""
    (found,) = [part for part in statements_in(text) if part.startswith("    y0 = ")]
    return found


@pytest.mark.parametrize("program", [TURN, TURN_BACK, shape_program(1, turns=True, fades=True)])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("interleaved", [False, True])
def test_the_statements_in_the_text_are_decided_equal_to_the_closed_form(program, dtype, interleaved):
    for interpreted in (False, True):
        text = source(Kernel(program, dtype, interleaved, interpreted))
        assert verify_statements(statements(text), "triton", program).status is Status.PROVED


def changed():
    """Every program that differs from the rotation in the sign or a factor of one term."""
    for number, step in enumerate(TURN.steps):
        for place, term in enumerate(step.terms):
            x, table = term.factors
            other = next(t for t, _ in TURN.tables if t != table)
            for wrong in (Term(-term.sign, term.factors), Term(term.sign, (x, other))):
                terms = (*step.terms[:place], wrong, *step.terms[place + 1 :])
                steps = list(TURN.steps)
                steps[number] = dataclasses.replace(step, terms=terms)
                yield dataclasses.replace(TURN, steps=tuple(steps))


@pytest.mark.parametrize("interleaved", [False, True])
def test_one_changed_coefficient_is_refuted_in_the_text_and_gives_other_numbers(interleaved, monkeypatch):
    x, (cos, sin) = torch.randn(1, 2, 3, 8), torch.randn(2, 3, 4)
    known = torch.empty_like(x)
    native.rotary(x, known, cos, sin, None, 8, interleaved)
    wrong = list(changed())
    assert len(wrong) == 8
    for program in [TURN, *wrong]:
        monkeypatch.setattr(triton.call, "_TURN", program)
        out = torch.empty_like(x)
        triton.rotary(x, out, cos, sin, None, 8, interleaved)
        verdict = verify_statements(
            statements(source(Kernel(program, "float32", interleaved))), "triton", TURN
        )
        assert torch.equal(out, known) is (program is TURN)
        assert verdict.status is (Status.PROVED if program is TURN else Status.REFUTED)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("interleaved", [False, True])
def test_a_gpu_is_given_what_the_interpreter_runs_but_for_the_conversions_of_bfloat16(dtype, interleaved):
    for_gpu, interpreted = (
        source(Kernel(TURN, dtype, interleaved, there)).split("@triton.jit") for there in (False, True)
    )
    apart = {a.partition("(")[0].strip() for a, b in zip(for_gpu, interpreted, strict=True) if a != b}
    assert apart == ({"def widened", "def narrowed"} if dtype == "bfloat16" else set())


def test_the_text_begins_with_the_formula():
    assert source(Kernel(TURN, "bfloat16", True)).splitlines()[:7] == [
        '"""turn, coordinates of a plane side by side, for bfloat16.',
        "",
        "turn: y0, y1",
        "  c = cos(ω·t)",
        "  s = sin(ω·t)",
        "  y0 = x0·c - x1·s",
        "  y1 = x0·s + x1·c",
    ]


class NoDriver:
    """What Triton asks of the driver of an H100 before it launches anything."""

    def get_current_device(self):
        return 0

    def get_current_stream(self, device):
        return 0

    def get_current_target(self):
        return GPUTarget("cuda", 90, 32)


@pytest.fixture
def compiled(monkeypatch):
    """(PTX, bytes of shared memory) of a call: what would be launched on an H100 is compiled, and not run."""
    monkeypatch.setenv("TRITON_INTERPRET", "0")
    found, run = [], triton.call.function

    class Compiled:
        def __init__(self, kernel):
            self.kernel = run(kernel)

        def __getitem__(self, grid):
            return lambda *given, **options: found.append(self.kernel.warmup(*given, grid=grid, **options))

    def compile_call(dtype, interleaved, heads=(32, 8), time=4096, width=128, planes=64, ids=False):
        kind = getattr(torch, dtype)
        xs, outs = ([torch.empty(1, h, time, width, dtype=kind) for h in heads] for _ in range(2))
        table = torch.empty(time, planes, dtype=compute_dtype(kind))
        rows = torch.arange(time) if ids else None
        call = triton.rotary_qk if len(heads) == 2 else triton.rotary
        call(*xs, *outs, table, table, rows, 2 * planes, interleaved)
        made = found.pop()
        return made.asm["ptx"], made.metadata.shared

    monkeypatch.setattr(triton.call, "function", Compiled)
    monkeypatch.setattr(driver, "_active", NoDriver())
    return compile_call


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("interleaved", [False, True])
def test_for_a_gpu_all_traffic_is_in_vectors_of_16_bytes_and_every_feature_moves_once(
    dtype, interleaved, compiled
):
    ptx, shared = compiled(dtype, interleaved)
    loads, stores = (re.findall(rf"{way}\.global\S*", ptx) for way in ("ld", "st"))
    assert {x.split("global")[1] for x in loads + stores} == {".v2.b64" if dtype == "float64" else ".v4.b32"}
    tables = 2 * 1024 * (8 if dtype == "float64" else 4) // (16 * 32 * WARPS)  # cos and sin of 1024 planes
    assert len(loads) == len(stores) + tables  # q and k each have a loop of their own, which reads and writes
    assert len(stores) == 2 * 2 * 1024 * torch.empty(0, dtype=getattr(torch, dtype)).itemsize // (
        16 * 32 * WARPS
    )
    assert "local" not in re.sub(r"\.loc\b.*", "", ptx)  # nothing is spilled to memory
    if not interleaved or dtype in ("bfloat16", "float16"):
        assert shared == 0


@pytest.mark.parametrize("interleaved", [False, True])
def test_for_a_gpu_products_are_not_fused_and_halves_round_to_nearest(interleaved, compiled):
    ptx, _ = compiled("bfloat16", interleaved)
    assert not re.findall(r"\bfma\.rn\.f32", ptx)
    assert re.findall(r"cvt\.rn\.bf16x?2?\.f32", ptx)
    assert not re.findall(r"cvt\.r[^n]\S*\.bf16", ptx)


@pytest.mark.parametrize(("width", "planes"), [(128, 32), (80, 40), (96, 48), (2, 1), (130, 64)])
@pytest.mark.parametrize("interleaved", [False, True])
def test_other_widths_positions_and_few_tokens_compile_too(width, planes, interleaved, compiled):
    for heads, time, ids in (((5,), 1, True), ((4, 3), 77, False)):
        ptx, _ = compiled("bfloat16", interleaved, heads, time, width, planes, ids)
        assert "ld.global" in ptx
