"""What native kernels refuse: tensors that do not fit, and memory that is read while it is written."""

import re

import pytest
import torch
from exptx.numeric import BadDtype, BadTensor, PositionOutOfRange, native
from exptx.numeric.native import Native
from exptx.symbolic.lowering import shape_program

COS, SIN = torch.ones(4, 8).cos(), torch.ones(4, 8).sin()


def of(*shape, dtype=torch.float32):
    return torch.zeros(shape, dtype=dtype)


REFUSED = [
    (lambda: native.rotary(of(2, 3, 4, 16), of(2, 3, 4, 15), COS, SIN), BadTensor, r"out is \(2, 3, 4, 15\)"),
    (lambda: native.rotary(of(3, 4, 16), of(3, 4, 16), COS, SIN), BadTensor, "of rank 4 works"),
    (
        lambda: native.rotary(of(2, 3, 4, 16), of(2, 3, 4, 16, dtype=torch.float64), COS, SIN),
        BadTensor,
        "torch.float64, but x is .* torch.float32",
    ),
    (
        lambda: native.rotary(
            of(2, 3, 4, 16, dtype=torch.int32), of(2, 3, 4, 16, dtype=torch.int32), COS, SIN
        ),
        BadDtype,
        "x has dtype torch.int32; float64, float32, bfloat16 or float16 works",
    ),
    (
        lambda: native.rotary(of(2, 3, 4, 16), of(2, 3, 4, 16), COS.double(), SIN),
        BadDtype,
        "a table has dtype torch.float64, but x is torch.float32; torch.float32 works",
    ),
    (lambda: native.rotary(of(2, 3, 5, 16), of(2, 3, 5, 16), COS, SIN), BadTensor, r"a table is \(4, 8\)"),
    (lambda: native.rotary(of(2, 3, 4, 14), of(2, 3, 4, 14), COS, SIN), BadTensor, r"a table is \(4, 8\)"),
    (
        lambda: native.rotary(of(2, 3, 4, 16), of(2, 3, 4, 16), COS, SIN[:3]),
        BadTensor,
        r"a table is \(3, 8\)",
    ),
    (
        lambda: native.rotary(of(2, 3, 4, 16), of(2, 3, 4, 16), COS.expand(3, 4, 8), SIN.expand(3, 4, 8)),
        BadTensor,
        r"a table is \(3, 4, 8\)",
    ),
    (
        lambda: native.rotary(
            of(2, 3, 4, 16), of(2, 3, 4, 16), COS, SIN, torch.zeros(3, 4, dtype=torch.int64)
        ),
        BadTensor,
        r"position_ids is \(3, 4\) torch.int64, which does not fit",
    ),
    (
        lambda: native.rotary(of(2, 3, 4, 16), of(2, 3, 4, 16), COS[None], SIN[None], torch.zeros(4).long()),
        BadTensor,
        r"a table is \(1, 4, 8\)",
    ),
    (
        lambda: native.rotary_qk(
            of(2, 3, 4, 16), of(1, 3, 4, 16), of(2, 3, 4, 16), of(1, 3, 4, 16), COS, SIN
        ),
        BadTensor,
        r"k is \(1, 3, 4, 16\) torch.float32, which does not fit q",
    ),
    (
        lambda: Native(shape_program(1, turns=True, fades=True))(of(2, 3, 4, 16), of(2, 3, 4, 16), (COS,)),
        BadTensor,
        "1 tables are given, but damped_turn takes 2",
    ),
    (
        lambda: native.rotary(of(2, 3, 4, 16).to("meta"), of(2, 3, 4, 16), COS, SIN),
        BadTensor,
        "native kernels read memory of the CPU as it is, but a tensor is on meta",
    ),
    (
        lambda: native.rotary(of(2, 3, 4, 16), of(2, 3, 4, 16), COS, torch.complex(COS, SIN).conj().imag),
        BadTensor,
        r"a tensor is negated in name only \(resolve_neg\(\) works\)",
    ),
    (
        lambda: native.rotary(of(2, 3, 4, 16), of(1, 3, 4, 16).expand(2, 3, 4, 16), COS, SIN),
        BadTensor,
        "its entries share memory",
    ),
    (
        lambda: native.rotary(of(2, 3, 4, 16), of(500).as_strided((2, 3, 4, 16), (100, 20, 8, 1)), COS, SIN),
        BadTensor,
        "its entries share memory",
    ),
]


@pytest.mark.parametrize(
    ("call", "error", "words"), REFUSED, ids=[re.sub(r"\W+", "-", r[2]) for r in REFUSED]
)
def test_what_does_not_fit_is_refused_in_one_sentence(call, error, words):
    with pytest.raises(error, match=words) as caught:
        call()
    assert "\n" not in str(caught.value)


def filled(*shape):
    return torch.randn(shape, generator=torch.Generator().manual_seed(3))


def tables():
    angle = filled(4, 8)
    return angle.cos(), angle.sin()


@pytest.mark.parametrize("shift", [1, 8, 16, 64, 191])
def test_a_result_that_overlaps_its_source_in_part_is_refused_and_nothing_is_written(shift):
    memory = filled(1000)
    before = memory.clone()
    x, out = (memory.as_strided((1, 3, 4, 16), (192, 64, 16, 1), start) for start in (0, shift))
    for source, target in ((x, out), (out, x)):
        with pytest.raises(BadTensor, match="out shares memory with another tensor that is read or written"):
            native.rotary(source, target, *tables())
    assert torch.equal(memory, before)


def test_a_result_in_the_same_memory_by_other_strides_is_refused():
    x = filled(1, 4, 4, 16)
    with pytest.raises(BadTensor, match="out shares memory"):
        native.rotary(x, x.transpose(1, 2), *tables())


def test_slices_of_one_tensor_that_share_no_number_are_fine():
    """Queries, keys and values side by side, as one projection makes them, turned in place and across."""
    packed = filled(2, 4, 8, 16)  # (batch, time, 4 + 2 + 2 heads, d)
    q, k, v = (packed[:, :, a:b].transpose(1, 2) for a, b in ((0, 4), (4, 6), (6, 8)))
    want_q, want_k = torch.empty(2, 4, 4, 16), torch.empty(2, 2, 4, 16)
    native.rotary_qk(q, k, want_q, want_k, *tables())
    native.rotary(k, v, *tables())
    assert torch.equal(v, want_k)
    native.rotary_qk(q, k, q, k, *tables())
    assert torch.equal(q, want_q)
    assert torch.equal(k, want_k)
    halves = filled(1, 3, 4, 32)
    native.rotary(halves[..., :16], halves[..., 16:], *tables())
    known = torch.empty(1, 3, 4, 16)
    native.rotary(halves[..., :16], known, *tables())
    assert torch.equal(halves[..., 16:], known)


def test_a_position_outside_the_table_is_found_in_slices_as_well():
    """They seem to overlap, which is looked into before row numbers are."""
    packed = filled(2, 4, 8, 16)
    before, ids = packed.clone(), torch.tensor([0, 1, 2, 4])
    q, k = packed[:, :, :4].transpose(1, 2), packed[:, :, 4:6].transpose(1, 2)
    with pytest.raises(PositionOutOfRange, match="position_ids contains 4"):
        native.rotary_qk(q, k, q, k, *tables(), ids)
    assert torch.equal(packed, before)


@pytest.mark.parametrize("way", ["swapped", "one result", "the same in place", "keys onto queries"])
def test_two_rotations_that_disturb_each_other_are_refused(way):
    q, k, a, b = (filled(1, 2, 4, 16) for _ in range(4))
    q_out, k_out = {
        "swapped": (k, q),
        "one result": (a, a),
        "the same in place": (q, q),
        "keys onto queries": (b, q),
    }[way]
    if way == "the same in place":
        k = q
    with pytest.raises(BadTensor, match="out shares memory"):
        native.rotary_qk(q, k, q_out, k_out, *tables())


def test_one_tensor_may_be_read_twice():
    x, a, b = filled(1, 2, 4, 16), torch.empty(1, 2, 4, 16), torch.empty(1, 2, 4, 16)
    native.rotary_qk(x, x, a, b, *tables())
    assert torch.equal(a, b)


def test_a_table_that_the_result_overwrites_is_refused():
    memory = filled(64 + 32 + 32)
    x, cos, sin = memory[:64].view(1, 1, 4, 16), memory[60:92].view(4, 8), memory[96:].view(4, 8)
    with pytest.raises(BadTensor, match="out shares memory"):
        native.rotary(x, x, cos, sin)


def test_a_subclass_without_memory_is_refused():
    class Wrapped(torch.Tensor):
        @staticmethod
        def __new__(cls, inner):
            return torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype)

        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            raise AssertionError(function)

    x = Wrapped(filled(1, 2, 4, 16))
    with pytest.raises((BadTensor, RuntimeError), match=r"memory|data pointer|storage"):
        native.rotary(x, filled(1, 2, 4, 16), *tables())
