"""What linear attention refuses, each in one sentence that names the argument."""

import math

import pytest
import torch
from exptx.numeric import BadChoice, BadDtype, BadTensor, TooLarge, linear_attention, state_map

X = torch.ones(1, 2, 6, 4)
DECAY = -torch.ones(2)


@pytest.mark.parametrize(
    ("changed", "error", "words"),
    [
        ({"q": X[0]}, BadTensor, "q has rank 3"),
        ({"q": X.long()}, BadDtype, "q has dtype torch.int64"),
        ({"k": X[..., :3]}, BadTensor, r"k has shape \(1, 2, 6, 3\) but q has \(1, 2, 6, 4\)"),
        ({"v": X[:, :1]}, BadTensor, r"v has shape \(1, 1, 6, 4\), but k has .*\(1, 2, 6, dv\) works"),
        ({"k": X[:, :1], "v": X[:, :1]}, BadTensor, "equal shapes work, or enable_gqa=True with a number"),
        ({"k": X[:, :0], "v": X[:, :0], "enable_gqa": True}, BadTensor, r"k has shape \(1, 0, 6, 4\)"),
        ({"k": X[:, :1], "enable_gqa": True}, BadTensor, r"but k has .*\(1, 1, 6, dv\) works"),
        ({"enable_gqa": 2}, BadChoice, "enable_gqa is 2; True or False works"),
        ({"v": X.bfloat16()}, BadDtype, "v has dtype torch.bfloat16 but q has torch.float32"),
        ({"log_decay": None}, BadDtype, "log_decay is a NoneType"),
        ({"log_decay": -1.0}, BadDtype, "log_decay is a float"),
        ({"log_decay": -torch.ones(3)}, BadTensor, r"log_decay has shape \(3,\); \(2,\), \(1, 2, 6\) or"),
        ({"log_decay": -torch.ones(6)}, BadTensor, r"log_decay has shape \(6,\)"),
        (
            {"log_decay": torch.tensor([-1.0, 0.25])},
            BadTensor,
            "log_decay contains 0.25; log decays <= 0 work",
        ),
        ({"log_decay": torch.tensor([-1.0, math.nan])}, BadTensor, "log_decay contains nan"),
        (
            {"log_decay": -X, "angle": torch.ones(2)},
            BadTensor,
            r"\(1, 2, 6, 2\) works: a turn mixes the two features of a plane",
        ),
        ({"angle": 1.0}, BadDtype, "angle is a float"),
        ({"angle": torch.ones(4)}, BadTensor, r"angle has shape \(4,\); \(2,\), \(2, 2\) or \(1, 2, 6, 2\)"),
        ({"angle": torch.tensor([0.0, math.inf])}, BadTensor, "angle contains NaN or infinity"),
        ({"angle": torch.tensor([0.0, 1e9])}, TooLarge, r"angle adds up to 6e\+09 > 2\^28 radians"),
        (
            {"q": X[..., :3], "k": X[..., :3], "angle": torch.ones(1)},
            BadTensor,
            "q has 3 features, but with angle they turn in pairs",
        ),
        ({"form": "chunk"}, BadChoice, "form is 'chunk'; one of 'chunked', 'recurrent', 'parallel' works"),
        ({"scale": math.nan}, BadTensor, "scale is nan"),
        ({"scale": 10**400}, BadTensor, "scale is 10+; a finite number works"),
        ({"cu_seqlens": torch.tensor([0, 6], device="meta")}, BadTensor, "cu_seqlens is on meta"),
        ({"scale": None}, BadTensor, "scale is None; a finite number works"),
        ({"chunk_size": 48}, BadTensor, "chunk_size is 48; a power of two works"),
        ({"interleaved": "no"}, BadChoice, "interleaved is 'no'; True or False works"),
        ({"chunk_size": 0}, BadTensor, "chunk_size is 0"),
        ({"chunk_size": 16.0}, BadTensor, "chunk_size is 16.0"),
        ({"initial_state": X[0]}, BadTensor, r"initial_state has shape .*\(1, 2, 4, 4\) works"),
        (
            {"initial_state": torch.ones(1, 2, 4, 4).half()},
            BadDtype,
            "initial_state has dtype torch.float16; a torch.float32 tensor works",
        ),
        ({"initial_state": 0}, BadDtype, "initial_state is a int"),
        ({"cu_seqlens": [0, 6]}, BadDtype, "cu_seqlens is no integer tensor"),
        ({"cu_seqlens": torch.tensor([0, 4])}, BadTensor, r"cu_seqlens is \[0, 4\]; .* to the 6 tokens of q"),
        ({"cu_seqlens": torch.tensor([0, 4, 3, 6])}, BadTensor, r"cu_seqlens is \[0, 4, 3, 6\]"),
        (
            {
                "cu_seqlens": torch.tensor([0, 6]),
                **dict.fromkeys("qkv", X.expand(2, -1, -1, -1)),
            },
            BadTensor,
            "cu_seqlens packs sequences into one row, but q has batch 2",
        ),
        (
            {"cu_seqlens": torch.tensor([0, 2, 6]), "initial_state": torch.ones(1, 2, 4, 4)},
            BadTensor,
            r"initial_state has shape .*\(2, 2, 4, 4\) works",
        ),
    ],
)
def test_what_does_not_fit_is_refused_in_one_sentence(changed, error, words):
    given = {"q": X, "k": X, "v": X, "log_decay": DECAY} | changed
    with pytest.raises(error, match=words) as refusal:
        linear_attention(**given)
    assert "\n" not in str(refusal.value)


def test_a_map_of_states_refuses_the_same():
    with pytest.raises(BadTensor, match="log_decay contains 1; log decays <= 0 work"):
        state_map(X, X, -DECAY)
    with pytest.raises(BadTensor, match="chunk_size is 3"):
        state_map(X, X, DECAY, chunk_size=3)


def test_what_is_on_another_device_is_refused():
    with pytest.raises(BadTensor, match="log_decay is on meta but q is on cpu"):
        linear_attention(X, X, X, DECAY.to("meta"))


def test_shapes_are_known_without_values():
    """On the meta device nothing is read."""
    q, decay = X.to("meta"), DECAY.to("meta")
    for form in ("chunked", "recurrent", "parallel"):
        out, state = linear_attention(q, q, q[..., :3], decay, form=form, chunk_size=4)
        assert (out.shape, state.shape) == ((1, 2, 6, 3), (1, 2, 4, 3))
