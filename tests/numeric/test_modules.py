"""The rotary module: its angles do not depend on what the model is cast or moved to."""

import copy
from types import SimpleNamespace

import numpy as np
import pytest
import sympy as sp
import torch
from exptx.numeric import (
    BadChoice,
    BadDtype,
    BadTensor,
    NotLowered,
    RotaryEmbedding,
    rotary_embedding,
    rotary_embedding_qk,
    rotary_table,
)
from exptx.symbolic import BadInput, WrongType, frequencies

F = frequencies(500000, 16)
IDS = torch.tensor([[100000, 100001, 7]])


def heads(dtype=torch.float32, d=16):
    return torch.randn(2, 1, 2, 3, d, generator=torch.Generator().manual_seed(0)).to(dtype).unbind(0)


@pytest.mark.parametrize(
    "cast", [torch.nn.Module.half, torch.nn.Module.bfloat16, lambda m: m.to(torch.bfloat16)]
)
@pytest.mark.parametrize("given_as", [F, rotary_table(F, torch.tensor([1]))[0][0].acos().double()])
def test_casting_the_module_leaves_the_angles_alone(cast, given_as):
    module = RotaryEmbedding(given_as)
    before = module.tables(IDS)
    after = cast(copy.deepcopy(module)).tables(IDS)
    assert all(torch.equal(a, b) for a, b in zip(before, after, strict=True))
    assert after[0].dtype == torch.float32


def test_frequencies_given_as_a_tensor_are_kept_to_the_last_bit():
    waves = torch.rand(8, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    assert torch.equal(RotaryEmbedding(waves).tables(IDS)[0], rotary_table(waves, IDS)[0])


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float64])
def test_what_torch_takes_for_the_usual_dtype_makes_no_difference(dtype):
    known = RotaryEmbedding(F).tables(IDS)
    torch.set_default_dtype(dtype)
    try:
        found = RotaryEmbedding(F).tables(IDS)
    finally:
        torch.set_default_dtype(torch.float32)
    assert all(map(torch.equal, found, known))


def test_the_module_has_no_state_to_load_or_to_lose():
    module = RotaryEmbedding(F)
    assert not module.state_dict()
    with torch.device("meta"):
        on_meta = RotaryEmbedding(F)
    revived = on_meta.to_empty(device="cpu")
    assert all(torch.equal(a, b) for a, b in zip(revived.tables(IDS), module.tables(IDS), strict=True))


def test_the_frequencies_follow_the_module_to_a_device_but_never_to_another_dtype():
    module = RotaryEmbedding(F)
    before, places = module._inv_freq.clone(), []
    module._apply(lambda tensor: places.append(tensor.device) or tensor.half())
    module.to("meta")
    assert places == [torch.device("cpu")]
    assert module._inv_freq.dtype == torch.float64
    assert torch.equal(module._inv_freq, before)  # numbers are not given up for a device without storage
    assert not list(module.buffers())


@pytest.mark.parametrize("angles", ["exact", "hf"])
@pytest.mark.parametrize("given_as", [F, torch.rand(8, dtype=torch.float64)])
@pytest.mark.parametrize("dynamic", [None, True])
@pytest.mark.parametrize("times", [(3, 4, 7, 12, 33), (1, 2, 3, 50)])
def test_it_compiles_without_a_graph_break_and_at_most_once_more_as_time_grows(
    given_as, angles, dynamic, times
):
    graphs = []

    def eager(graph, _):
        graphs.append(graph)
        return graph.forward

    torch.compiler.reset()  # which counts the graphs of all modules together
    module = RotaryEmbedding(given_as, angles=angles)
    compiled = torch.compile(module, backend=eager, fullgraph=True, dynamic=dynamic)
    for time in times:
        q, k = torch.randn(2, 1, 2, time, 16, generator=torch.Generator().manual_seed(0)).unbind(0)
        ids = 1000 + torch.arange(time)[None]
        assert all(map(torch.equal, compiled(q, k, ids), module(q, k, ids)))
    assert 1 <= len(graphs) <= 2


class Decoder(torch.nn.Module):
    """Two layers of a small GPT, with one rotary module for both."""

    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(32, 96) for _ in range(2))
        self.rotate = RotaryEmbedding(F)

    def forward(self, x, ids):
        for layer in self.layers:
            q, k, v = layer(x).unflatten(-1, (3, 2, 16)).permute(2, 0, 3, 1, 4)
            q, k = self.rotate(q, k, ids)
            y = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + y.transpose(1, 2).flatten(2)
        return x


def test_a_model_made_on_meta_is_the_model_after_loading():
    known, x = Decoder(), torch.randn(1, 3, 32)
    with torch.device("meta"):
        model = Decoder()
    model.to_empty(device="cpu").load_state_dict(known.state_dict())
    assert torch.equal(model(x, IDS), known(x, IDS))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_a_model_cast_to_half_precision_turns_by_the_same_angles(dtype):
    """Also far out, where frequencies of half precision would be off by whole turns."""
    q, k = heads(dtype)
    turned = Decoder().to(dtype).rotate(q, k, IDS)
    for got, x in zip(turned, (q, k), strict=True):
        assert torch.equal(got, rotary_embedding(x, *rotary_table(F, IDS)))


@pytest.mark.parametrize("mode", [torch.no_grad, torch.enable_grad, torch.inference_mode])
def test_layers_that_share_positions_share_the_table_and_nothing_else(mode, monkeypatch):
    formed = []
    monkeypatch.setattr(RotaryEmbedding, "tables", lambda *a, **k: formed.append(1) or TABLES(*a, **k))
    model, x = Decoder(), torch.randn(1, 3, 32)
    with mode():
        known = model(x, IDS)
        assert len(formed) == 1
        assert torch.equal(model(x, IDS.clone()), known)
        assert len(formed) == 1
        assert not torch.equal(model(x, IDS + torch.tensor([0, 0, 1])), known)
    model(x, IDS).sum().backward()  # also right after inference_mode


TABLES = RotaryEmbedding.tables


def test_positions_that_change_in_place_are_seen_even_through_numpy():
    module, (q, k) = RotaryEmbedding(F), heads()
    memory = np.arange(3)
    ids = torch.from_numpy(memory)
    before = module(q, k, ids)[0]
    memory += 5
    assert not torch.equal(module(q, k, ids)[0], before)
    assert torch.equal(module(q, k, ids)[0], RotaryEmbedding(F)(q, k, torch.arange(5, 8))[0])


def test_a_table_kept_for_one_option_is_not_taken_for_another():
    module, (q, k) = RotaryEmbedding(F), heads()
    exact = module(q, k, IDS)[0]
    double = module(q.double(), k.double(), IDS)[0]
    assert double.dtype == torch.float64
    module.attention_scaling = 2.0
    assert torch.equal(module(q, k, IDS)[0], 2 * exact)
    assert torch.equal(RotaryEmbedding(F)(q, k, IDS.int())[0], exact)
    assert copy.deepcopy(module)._shelf is None


@pytest.mark.parametrize("made_for", [torch.enable_grad, torch.inference_mode])
def test_a_clock_that_learns_has_its_gradient(made_for):
    clock = torch.tensor([0.5, 1.5, 7.25], requires_grad=True)
    with made_for():
        module, (q, k) = RotaryEmbedding(F), heads()
    q, k = q.clone(), k.clone()
    for _ in range(2):
        module(q, k, clock)[0].square()[..., :8].sum().backward()
    assert clock.grad.abs().min() > 0


YARN = {"rope_type": "yarn", "rope_theta": 10000.0, "factor": 4.0, "original_max_position_embeddings": 64}


@pytest.mark.parametrize(
    "config",
    [
        {"rope_parameters": YARN, "head_dim": 16},
        {
            "rope_theta": 10000.0,
            "rope_scaling": {k: YARN[k] for k in YARN if k != "rope_theta"},
            "head_dim": 16,
        },
        {
            "rope_parameters": {"full": YARN, "other": {"rope_theta": 7}},
            "hidden_size": 64,
            "num_attention_heads": 4,
        },
        SimpleNamespace(rope_parameters=YARN, head_dim=None, hidden_size=64, num_attention_heads=4),
    ],
)
def test_a_config_is_read_with_its_scaling_rule_and_amplitude(config):
    layer = "full" if isinstance(config, dict) and "hidden_size" in config else None
    module = RotaryEmbedding.from_config(config, layer_type=layer, interleaved=True)
    known = rotary_table(frequencies(YARN, 16), IDS)
    assert all(map(torch.equal, module.tables(IDS), known))
    assert module.interleaved
    assert module.attention_scaling > 1


def test_two_instances_never_share_a_table():
    first, second = RotaryEmbedding(frequencies(100, 16)), RotaryEmbedding(F)
    first.tables(IDS)
    assert torch.equal(second.tables(IDS)[0], rotary_table(F, IDS)[0])


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("layout", ["bhtd", "bthd"])
@pytest.mark.parametrize("interleaved", [False, True])
def test_forward_is_the_kernel_at_the_table_of_its_positions(dtype, layout, interleaved):
    q, k = (x if layout == "bhtd" else x.transpose(1, 2) for x in heads(dtype))
    k = k[:, :1] if layout == "bhtd" else k[:, :, :1]
    module = RotaryEmbedding(F, interleaved=interleaved, layout=layout)
    table = rotary_table(F, IDS, dtype=torch.float64 if dtype == torch.float64 else torch.float32)
    for got, x in zip(module(q, k, IDS), (q, k), strict=True):
        assert torch.equal(got, rotary_embedding(x, *table, interleaved=interleaved, layout=layout))


def test_wider_heads_are_rotated_in_part():
    q, k = heads(d=20)
    got, _ = RotaryEmbedding(F)(q, k, IDS)
    assert torch.equal(got[..., 16:], q[..., 16:])
    assert not torch.equal(got[..., :16], q[..., :16])


@pytest.mark.parametrize("angles", ["exact", "hf"])
@pytest.mark.parametrize(
    ("config", "turning"),
    [
        ({"head_dim": 16}, 16),
        ({"hidden_size": 64, "num_attention_heads": 4}, 16),
        ({"head_dim": 16, "partial_rotary_factor": 0.5}, 8),
        ({"head_dim": 16, "rotary_pct": 0.5}, 8),
        ({"head_dim": 16, "rotary_dim": 8}, 8),
    ],
)
def test_a_config_says_how_wide_heads_are_and_how_much_of_them_turns(config, turning, angles):
    rotate = RotaryEmbedding.from_config({"rope_theta": 10000, **config}, angles=angles)
    q, k = heads(d=16)
    same = RotaryEmbedding(frequencies(10000, turning), angles=angles)
    assert all(map(torch.equal, rotate(q, k, IDS), same(q, k, IDS)))
    assert torch.equal(rotate(q, k, IDS)[0][..., turning:], q[..., turning:])
    for width in (32, 8):
        with pytest.raises(
            BadTensor, match=f"q has head_dim {width}, but the config .* says 16; heads of 16"
        ):
            rotate(*heads(d=width), IDS)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_one_table_for_all_layers_turns_as_the_module_does(dtype):
    rotate, (q, k), ids = RotaryEmbedding(F), heads(dtype), torch.tensor([[5, 0, 11], [2, 3, 4]])
    cos, sin = rotate.tables(12)
    q, k = q.repeat(2, 1, 1, 1), k.repeat(2, 1, 1, 1)
    assert all(map(torch.equal, rotary_embedding_qk(q, k, cos, sin, ids), rotate(q, k, ids)))


def test_packed_tokens_turn_as_one_sequence_with_time_first():
    x, ids = heads()[0][0].transpose(0, 1), torch.tensor([0, 1, 0])  # (tokens, heads, head_dim)
    turned, _ = RotaryEmbedding(F, layout="bthd")(x[None], x[None], ids)
    known, _ = RotaryEmbedding(F)(x.transpose(0, 1)[None], x.transpose(0, 1)[None], ids)
    assert torch.equal(turned[0], known[0].transpose(0, 1))


def test_hf_angles_are_opt_in_and_differ_far_out():
    exact, copied = (RotaryEmbedding(F, angles=angles).tables(IDS)[0] for angles in ("exact", "hf"))
    assert torch.equal(copied, rotary_table(F, IDS, angles="hf")[0])
    assert not torch.equal(exact, copied)


def test_a_length_stands_for_the_positions_from_zero():
    module = RotaryEmbedding(F)
    assert torch.equal(module.tables(5)[1], module.tables(torch.arange(5))[1])


def test_print_shows_the_options():
    assert repr(RotaryEmbedding(F, layout="bthd")) == (
        "RotaryEmbedding(rotary_dim=16, interleaved=False, layout='bthd', angles='exact')"
    )
    assert "(head_dim=16, rotary_dim=16, " in repr(
        RotaryEmbedding.from_config({"rope_theta": 7, "head_dim": 16})
    )


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: RotaryEmbedding(10000.0), BadDtype, "frequencies is a float; Frequencies or a tensor"),
        (
            lambda: RotaryEmbedding(torch.ones(4, device="meta")),
            BadTensor,
            "frequencies is on the meta device",
        ),
        (lambda: RotaryEmbedding(torch.ones(2, 2, 4)), BadTensor, r"frequencies has shape \(2, 2, 4\)"),
        (lambda: RotaryEmbedding(torch.tensor([float("inf")])), BadTensor, "finite entries"),
        (
            lambda: RotaryEmbedding(frequencies(sp.Symbol("b", positive=True), 4)),
            NotLowered,
            r"frequency 1 is 1/sqrt\(b\), with the symbol b",
        ),
        (lambda: RotaryEmbedding(F, angles="fp32"), BadChoice, "angles is 'fp32'"),
        (lambda: RotaryEmbedding(F, layout="tbhd"), BadChoice, "layout is 'tbhd'"),
        (lambda: RotaryEmbedding(F, interleaved="yes"), BadChoice, "interleaved is 'yes'; True or False"),
        (lambda: RotaryEmbedding(F, attention_scaling="x"), BadTensor, "attention_scaling is 'x'; a finite"),
        (lambda: RotaryEmbedding(torch.ones(4).to_sparse()), BadTensor, "frequencies is a sparse_coo tensor"),
        (lambda: RotaryEmbedding(F).tables([1]), BadDtype, "position_ids is a list"),
        (
            lambda: RotaryEmbedding(F).tables(-1),
            BadTensor,
            "position_ids is -1; an integer tensor or a length",
        ),
        (
            lambda: RotaryEmbedding(F)(*heads(), IDS[:, :2]),
            BadTensor,
            r"position_ids has shape \(1, 2\), but there are 1 sequences of 3 tokens",
        ),
        (lambda: RotaryEmbedding(F)(*heads(), IDS[0, 0]), BadTensor, "position_ids has rank 0"),
        (lambda: RotaryEmbedding(F)(*heads(), IDS[None]), BadTensor, "position_ids has rank 3"),
        (lambda: RotaryEmbedding(F)(*heads(), IDS.to("meta")), BadTensor, "position_ids is on meta but q is"),
        (lambda: RotaryEmbedding(F)(*heads(), torch.full((3,), torch.nan)), BadTensor, "contains NaN"),
        (lambda: RotaryEmbedding(F)(*heads(), [1]), BadDtype, "position_ids is a list"),
        (
            lambda: RotaryEmbedding.from_config({"rope_theta": 10000}),
            BadInput,
            "no head_dim, only rope_theta; .* head_dim, or hidden_size and num_attention_heads, makes it one",
        ),
        (
            lambda: RotaryEmbedding.from_config({"hidden_size": 64}),
            BadInput,
            "config has no head_dim, nor hidden_size and num_attention_heads",
        ),
        (lambda: RotaryEmbedding.from_config(None), BadInput, "no head_dim, nothing at all"),
        (
            lambda: RotaryEmbedding.from_config({"hidden_size": 10, "num_attention_heads": 4}),
            BadInput,
            "hidden_size 10 is no multiple of num_attention_heads 4; give head_dim",
        ),
        (
            lambda: RotaryEmbedding.from_config({"hidden_size": 8, "num_attention_heads": 0}),
            BadInput,
            "num_attention_heads is 0; a whole number from 1",
        ),
        (
            lambda: RotaryEmbedding.from_config({"head_dim": 8, "rope_theta": 7, "rope_scaling": "linear"}),
            WrongType,
            "rope_scaling is 'linear'; a mapping works",
        ),
        (
            lambda: RotaryEmbedding.from_config({"head_dim": 8, "rope_parameters": [1]}),
            WrongType,
            r"rope_parameters is \[1\]; a mapping works",
        ),
        (lambda: RotaryEmbedding.from_config({"head_dim": 8}), BadInput, "rope_parameters has no rope_theta"),
        (
            lambda: RotaryEmbedding(F)(*heads(d=8), IDS),
            BadTensor,
            "rotary_dim is 16, .* head_dim is 8; an even number from 2 to 8",
        ),
        (
            lambda: RotaryEmbedding(F)(heads()[0], heads(torch.float16)[1], IDS),
            BadDtype,
            "k has dtype torch.float16",
        ),
    ],
)
def test_a_module_that_would_be_wrong_is_refused_in_one_sentence(call, error, words):
    with pytest.raises(error, match=words):
        call()
