"""Calls of the rotary kernel that do not fit: one sentence that names the argument and what would work."""

import pytest
import torch
from exptx.numeric import BadChoice, BadDtype, BadTensor, PositionOutOfRange, rotary_table
from exptx.numeric import rotary_embedding as rotate
from exptx.numeric import rotary_embedding_qk as rotate_qk
from exptx.symbolic import frequencies
from tensors import nested

X, F = torch.zeros(2, 3, 4, 8), frequencies(10000, 8)
COS, SIN = rotary_table(F, torch.arange(4))
FULL = torch.cat((COS, COS), -1)
DOUBLED = [table.repeat_interleave(2, -1) for table in (COS, SIN)]
WIDER = rotary_table(frequencies(10000, 16), torch.arange(4))
WIDE = torch.zeros(2, 3, 4, 32)
IDS = torch.zeros(4, 4, dtype=torch.int64)


def ragged(layout):
    return nested([torch.zeros(3, 4, 8), torch.zeros(2, 4, 8)], layout)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (
            lambda: rotate(X, FULL, FULL),
            BadTensor,
            r"8 columns, but 8 coordinates turn and take 4; the two halves repeat.* cos\[\.\.\., :4\]",
        ),
        (lambda: rotate(X, FULL, FULL, rotary_dim=8), BadTensor, "so they are full width"),
        (lambda: rotate(X, *DOUBLED), BadTensor, r"neighbours repeat, .* cos\[\.\.\., ::2\]"),
        (lambda: rotate(WIDE, FULL, FULL), BadTensor, r"halves repeat, .* with rotary_dim=8 works"),
        (
            lambda: rotate(X, *WIDER),
            BadTensor,
            r"take 4; a table made for 8 coordinates works \(this one is for 16\)$",
        ),
        (
            lambda: rotate(WIDE, *WIDER, rotary_dim=8),
            BadTensor,
            r"made for 8 coordinates works \(this one is for 16\), or rotary_dim=16",
        ),
        (  # at position 0 every column is 1 or 0, so that nothing shows what the table is
            lambda: rotate(X, *(table[:1].expand(4, 8) for table in WIDER)),
            BadTensor,
            r"a table made for 8 coordinates works, or cos\[\.\.\., :4\] .* if they are full width",
        ),
        (
            lambda: rotate(X.to("meta"), *(table.to("meta") for table in WIDER)),
            BadTensor,
            r"a table made for 8 coordinates works, or cos\[\.\.\., :4\] .* if they are full width",
        ),
        (
            lambda: rotate(X, COS[:, :2], SIN[:, :2]),
            BadTensor,
            r"2 columns, but 8 .* \(this one is for 4\), or rotary_dim=4",
        ),
        (lambda: rotate(X[..., :7], COS, SIN), BadTensor, "head_dim is 7, .*; head_dim 6 or 8 works"),
        (lambda: rotate(X, COS, SIN, rotary_dim=10), BadTensor, "rotary_dim is 10, .* from 2 to 8"),
        (
            lambda: rotate(X[0], COS, SIN),
            BadTensor,
            r"x has rank 3 and shape \(3, 4, 8\); rank 4, \(batch, heads, time, head_dim\), works, and "
            r"\(tokens, heads, head_dim\) as x\[None\] with layout='bthd'$",
        ),
        (lambda: rotate(X[0, 0], COS, SIN), BadTensor, r"rank 2 .*; rank 4, \(batch, .*\), works$"),
        (lambda: rotate(X.long(), COS, SIN), BadDtype, "x has dtype torch.int64"),
        (lambda: rotate([0.0], COS, SIN), BadDtype, "x is a list; a floating-point tensor works"),
        (
            lambda: rotate(X.double(), COS, SIN),
            BadDtype,
            "cos has dtype torch.float32 but x is torch.float64",
        ),
        (
            lambda: rotate(X, COS, SIN.double()),
            BadDtype,
            "sin has dtype torch.float64 but x is torch.float32",
        ),
        (
            lambda: rotate(X.half(), COS.half(), SIN),
            BadDtype,
            "cos has dtype torch.float16 but x is",
        ),
        (lambda: rotate(X, COS, SIN[:2]), BadTensor, r"cos has shape \(4, 4\) and sin \(2, 4\)"),
        (lambda: rotate(X, COS[0], SIN[0]), BadTensor, r"cos has shape \(4,\)"),
        (
            lambda: rotate(X, COS[:3], SIN[:3]),
            BadTensor,
            r"cos has shape \(3, 4\), but x has 2 sequences of 4",
        ),
        (lambda: rotate(X, COS, SIN, layout="bthd"), BadTensor, "2 sequences of 3 tokens"),
        (lambda: rotate(X, COS[:, :0], SIN[:, :0]), BadTensor, r"cos has shape \(4, 0\) .* one pair or more"),
        (lambda: rotate(X.to_sparse(), COS, SIN), BadTensor, "x is a sparse_coo tensor; a dense one works"),
        (lambda: rotate(X, COS.to_sparse(), SIN), BadTensor, "cos is a sparse_coo tensor; a dense one"),
        (lambda: rotate(X, COS, SIN, IDS[0].to_sparse()), BadTensor, "position_ids is a sparse_coo tensor"),
        (lambda: rotate(ragged(torch.jagged), COS, SIN), BadTensor, "x is a nested tensor; a dense one"),
        (lambda: rotate(ragged(torch.strided), COS, SIN), BadTensor, "x is a nested tensor; a dense one"),
        (lambda: rotate_qk(ragged(torch.strided), X, COS, SIN), BadTensor, "q is a nested tensor"),
        (lambda: rotate(X, COS, SIN, out=ragged(torch.strided)), BadTensor, "out is a nested tensor"),
        (lambda: rotate(X, COS, SIN, ragged(torch.strided).long()), BadTensor, "position_ids is a nested"),
        (lambda: rotate_qk(X, X, COS, SIN[:2]), BadTensor, r"cos has shape \(4, 4\) and sin \(2, 4\)"),
        (lambda: rotate(X, COS, SIN, interleaved="half"), BadChoice, "interleaved is 'half'; True or False"),
        (
            lambda: rotate(X, COS, SIN, inverse=None, impl="eager"),
            BadChoice,
            "inverse is None; True or False",
        ),
        (lambda: rotate_qk(X, X, COS, SIN, inverse=-1), BadChoice, "inverse is -1; True or False works"),
        (lambda: rotate(X, COS, SIN, layout="thd"), BadChoice, "layout is 'thd'; 'bhtd'"),
        (
            lambda: rotate(X, COS, SIN, impl="triton"),
            BadChoice,
            "impl='triton' runs on cuda but x is on cpu; impl='auto' or 'eager' works",
        ),
        (
            lambda: rotate(X, COS, SIN, impl="fast"),
            BadChoice,
            "impl is 'fast'; one of 'auto', 'eager'",
        ),
        (
            lambda: rotate(X, COS.to("meta"), SIN),
            BadTensor,
            "cos is on meta but x is on cpu; move one",
        ),
        (
            lambda: rotate(X, COS, SIN, torch.tensor([0, 1, 2, 4])),
            PositionOutOfRange,
            r"position_ids contains 4, but cos and sin have 4 rows; ids in 0\.\.3 work",
        ),
        (
            lambda: rotate(X, COS, SIN, torch.tensor([0, -1, 2, 3])),
            PositionOutOfRange,
            "position_ids contains -1",
        ),
        (lambda: rotate(X, COS, SIN, torch.arange(3)), BadTensor, r"position_ids has shape \(3,\)"),
        (
            lambda: rotate(X, COS, SIN, IDS[:3]),
            BadTensor,
            r"position_ids has shape \(3, 4\)",
        ),
        (
            lambda: rotate(X, COS, SIN, IDS[None, :2]),
            BadTensor,
            "position_ids has rank 3",
        ),
        (lambda: rotate(X, COS, SIN, torch.zeros(4)), BadDtype, "integers work as row numbers"),
        (
            lambda: rotate(X, COS[None], SIN[None], torch.arange(4)),
            BadChoice,
            "together with position_ids",
        ),
        (lambda: rotate_qk(X, X[:, :, :2], COS, SIN), BadTensor, "only the number of heads may differ"),
        (lambda: rotate_qk(X, X[..., :6], COS, SIN), BadTensor, r"k has shape \(2, 3, 4, 6\) but q has"),
        (lambda: rotate_qk(X, X.double(), COS, SIN), BadDtype, "k has dtype torch.float64 but q has"),
        (lambda: rotate_qk(X, [0.0], COS, SIN), BadDtype, "k is a list; a floating-point tensor works"),
        (lambda: rotate_qk(X.double(), X, COS, SIN), BadDtype, "cos has dtype torch.float32 but q is"),
        (lambda: rotate_qk(X, X.to("meta"), COS, SIN), BadTensor, "k is on meta but q is on cpu"),
        (
            lambda: rotate(X, COS, SIN, out=X[0]),
            BadTensor,
            r"out is \(3, 4, 8\) torch.float32 on cpu",
        ),
    ],
)
def test_a_call_that_does_not_fit_is_refused_in_one_sentence(call, error, words):
    with pytest.raises(error, match=words):
        call()
