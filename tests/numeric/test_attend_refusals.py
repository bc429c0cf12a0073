"""Calls of attention that do not fit: one sentence that names the argument and what would work."""

import pytest
import sympy as sp
import torch
from exptx.numeric import BadChoice, BadDtype, BadTensor, NotLowered, TooLarge, attention
from exptx.symbolic import encoding

D, G = 8, sp.Symbol("g", positive=True)
ALIBI = encoding("alibi", num_heads=3, head_dim=D)
KEYS_ONLY = encoding("keys_only", head_dim=D)
SYMMETRIC = encoding("symmetric_distance", slope=sp.Rational(1, 3), head_dim=D)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"encoding": "rope"}, BadDtype, "encoding is a str; an Encoding works"),
        (
            {"encoding": encoding("rope", head_dim=4)},
            BadTensor,
            "q has head_dim 8, but encoding is for head_dim 4",
        ),
        (
            {"encoding": encoding("alibi", num_heads=4, head_dim=D)},
            BadTensor,
            "encoding has 4 heads but q has 3",
        ),
        (
            {"encoding": encoding("axial", head_dim=D)},
            NotLowered,
            r"axial is not read at one number a token but at positions such as \(t0, t1\)",
        ),
        ({"encoding": encoding("learned_absolute", head_dim=D)}, NotLowered, r"p0\(t\) has no numeric form"),
        ({"encoding": encoding("transformer_xl", head_dim=D)}, NotLowered, "the lift .* changes q or k"),
        ({"encoding": encoding("grape_a_k", head_dim=D)}, NotLowered, "spare slots .* depend on q or k"),
        (
            {"encoding": encoding("decay", head_dim=D, gamma=G)},
            NotLowered,
            r"gamma of encoding decay is the symbol g; tensors need numbers, .* Rational\(1, 10\)",
        ),
        (
            {"encoding": encoding("rope", head_dim=D) + encoding("alibi", slope=2 * G, head_dim=D)},
            NotLowered,
            r"slope of encoding alibi is 2\*g, with the symbol g",
        ),
        (
            {"encoding": encoding("rope", head_dim=2 * sp.Symbol("n", integer=True, positive=True))},
            NotLowered,
            r"head_dim of encoding rope is 2\*n, with the symbol n; .* e\.g\. 64",
        ),
        (
            {"encoding": encoding("same_side_boost", head_dim=D), "position_ids": torch.arange(5) * 100},
            TooLarge,
            "overflows",
        ),
        (
            {"encoding": ALIBI, "scale": 1.0},
            BadChoice,
            r"scale is 1\.0, but the bias of alibi is built",
        ),
        (
            {"encoding": SYMMETRIC, "scale": 1.0},
            BadChoice,
            r"scale is 1\.0, but the bias of symmetric",
        ),
        ({"scale": float("nan")}, BadTensor, "scale is nan; a finite positive number works"),
        ({"position_ids": torch.tensor([0, 1, 2, 3, 2**29])}, TooLarge, r"2\^28 radians"),
        (
            {"encoding": KEYS_ONLY, "position_ids": torch.arange(5) + 2**29},
            TooLarge,
            r"2\^28 radians",
        ),
        (
            {"position_ids": torch.arange(4)},
            BadTensor,
            r"position_ids has shape \(4,\), but there are 2 sequences of 5",
        ),
        ({"key_position_ids": torch.arange(4)}, BadTensor, "position_ids has shape"),
        (
            {"q": torch.zeros(2, 3, 1, D)},
            BadTensor,
            r"position_ids is None, but there are 1 queries and 5 keys",
        ),
        (
            {"q": torch.zeros(3, 5, D)},
            BadTensor,
            r"q has rank 3 .*, and \(tokens, .*\) as q.transpose\(0, 1\)\[None\]$",
        ),
        (
            {"k": torch.zeros(2, 2, 5, D), "v": torch.zeros(2, 2, 5, D)},
            BadTensor,
            "q has 3 heads and k has 2",
        ),
        ({"v": torch.zeros(2, 3, 4, D)}, BadTensor, "q, k, v have shapes"),
        (
            {"v": torch.zeros(2, 3, 5, D).double()},
            BadDtype,
            "v has dtype torch.float64 but q has torch.float32",
        ),
        ({"attn_mask": torch.ones(4, 4)}, BadTensor, r"attn_mask has shape \(4, 4\); what broadcasts to"),
        ({"attn_mask": torch.ones(5, 5).long()}, BadDtype, "attn_mask is torch.int64; booleans"),
    ],
)
def test_a_call_that_does_not_fit_is_refused_in_one_sentence(options, error, words):
    heads = dict.fromkeys("qkv", torch.zeros(2, 3, 5, D))
    arguments = heads | {"encoding": encoding("rope", head_dim=D)} | options
    with pytest.raises(error, match=words):
        attention(**arguments)
