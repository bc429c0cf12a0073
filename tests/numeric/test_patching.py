"""A patched transformers model is the same model: logits, gradients, generated tokens; and the way back."""

import copy
import io
import sys
from types import ModuleType

import pytest
import torch
import transformers
from exptx.numeric import BadChoice, BadDtype, NotPatched, RotaryEmbedding, patch, unpatch
from exptx.numeric.patching import PatchedRotary, Rows
from exptx.symbolic import frequencies
from torch import nn
from transformers.models.llama import modeling_llama
from transformers.models.llama.modeling_llama import apply_rotary_pos_emb

transformers.logging.set_verbosity_error()

SIZES = {
    "vocab_size": 61,
    "hidden_size": 64,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 16,
    "max_position_embeddings": 256,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": None,
}
YARN = {"rope_type": "yarn", "rope_theta": 10000.0, "factor": 4.0, "original_max_position_embeddings": 64}
LLAMA3 = {
    "rope_type": "llama3",
    "rope_theta": 500000.0,
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 64,
}
FAMILIES = {  # what is special about the rotary embedding of each
    "llama": {},
    "mistral": {},
    "qwen2": {},
    "qwen3": {},  # normalises queries and keys before they turn
    "gemma2": {},
    "gemma3_text": {},  # one table for every type of layer
    "phi3": {},  # turns in part, one projection for all three
    "gpt_neox": {},  # turns in part
    "olmo2": {},  # keeps tables in float32
    "gpt_oss": {},  # passes half-width tables
    "cohere": {},  # interleaved, neighbours of the table repeat
    "glm4": {},  # interleaved, halves of the table repeat, turns in part
    "ernie4_5": {},
}


def tiny(family="llama", **options):
    """A model of random weights whose attention depends on positions, in eval mode."""
    torch.manual_seed(0)
    config = transformers.AutoConfig.for_model(family, **{**SIZES, **options})
    model = transformers.AutoModelForCausalLM.from_config(config, experts_implementation="eager").eval()
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if any(part in name for part in ("q_proj", "k_proj", "qkv", "query_key_value")):
                weight.mul_(12.0)
    return model


def tokens(batch=2, time=24):
    return torch.randint(3, SIZES["vocab_size"], (batch, time), generator=torch.Generator().manual_seed(1))


def logits(model, ids=None, **inputs):
    with torch.no_grad():
        return model(tokens() if ids is None else ids, **inputs).logits


def rounding(model):
    """What float32 does to the logits anyway: the largest difference to the same model in float64."""
    twin = copy.deepcopy(model).double()
    return (logits(twin) - logits(model)).abs().max()


@pytest.mark.parametrize("family", FAMILIES)
def test_logits_and_the_way_back_are_bit_for_bit_the_same_with_the_angles_of_transformers(family):
    """Both take the same two products and one sum in float32, so not even a rounding may differ."""
    model = tiny(family)
    before = logits(model)
    at_zero = logits(model, position_ids=torch.zeros(1, 24, dtype=torch.long))
    assert (at_zero - before).abs().max() > 1000 * rounding(model)  # positions do matter here
    assert patch(model, angles="hf") is model
    assert any(isinstance(module, PatchedRotary) for module in model.modules())
    assert torch.equal(logits(model), before)
    assert torch.equal(logits(unpatch(model)), before)


@pytest.mark.parametrize("family", FAMILIES)
def test_exact_angles_change_short_texts_no_more_than_float32_does(family):
    model = tiny(family)
    before, allowed = logits(model), 8 * rounding(model)
    assert (logits(patch(model)) - before).abs().max() <= allowed


def test_exact_angles_keep_the_logits_of_a_text_far_out_and_those_of_transformers_do_not():
    """The law behind it: scores depend on differences of positions only."""
    drifts, far = {}, 100_000 + torch.arange(24)[None]
    for angles in ("exact", "hf"):
        model = patch(tiny(), angles=angles)
        drifts[angles] = (logits(model, position_ids=far) - logits(model)).abs().max()
    assert drifts["exact"] <= 8 * rounding(tiny())
    assert drifts["hf"] > 100 * drifts["exact"]


@pytest.mark.parametrize(
    "parameters", [YARN, LLAMA3, {"rope_type": "linear", "rope_theta": 1e4, "factor": 2.0}]
)
def test_scaled_frequencies_and_their_amplitude_are_kept(parameters):
    model = tiny(rope_parameters=parameters)
    before, allowed = logits(model), 8 * rounding(model)
    assert torch.equal(logits(patch(model, angles="hf")), before)
    assert (logits(patch(unpatch(model))) - before).abs().max() <= allowed


@pytest.mark.parametrize("family", ["llama", "gemma2", "phi3", "gpt_neox", "glm4"])
def test_gradients_stay_the_same_with_and_without_activation_checkpointing(family):
    model = tiny(family)

    def gradients():
        model.zero_grad()
        model(tokens(), use_cache=False).logits.square().mean().backward()
        return {name: weight.grad.clone() for name, weight in model.named_parameters()}

    before = gradients()
    patch(model, angles="hf")
    after = gradients()
    model.train().activation_checkpointing_enable()
    again = gradients()
    for name, gradient in before.items():
        assert torch.equal(after[name], gradient), name
        assert torch.equal(again[name], gradient), name


@pytest.mark.parametrize("family", ["llama", "mistral", "qwen2", "gemma3_text", "phi3", "gpt_neox", "cohere"])
@pytest.mark.parametrize("angles", ["hf", "exact"])
def test_greedy_tokens_with_the_cache_stay_the_same(family, angles):
    model, ids = tiny(family), tokens()
    ids[0, :5] = 0  # left padding: rows have positions of their own
    options = {"attention_mask": (ids != 0).long(), "max_new_tokens": 12, "do_sample": False}
    before = model.generate(ids, **options)
    assert torch.equal(patch(model, angles=angles).generate(ids, **options), before)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float64])
@pytest.mark.parametrize("angles", ["hf", "exact"])
def test_what_torch_takes_for_the_usual_dtype_makes_no_difference(dtype, angles):
    """Large models are made while it is half precision."""
    known, ids = patch(tiny(), angles=angles).model.rotary_emb, torch.tensor([[100000, 7]])
    torch.set_default_dtype(dtype)
    try:
        found = patch(tiny(), angles=angles).model.rotary_emb
    finally:
        torch.set_default_dtype(torch.float32)
    for mine, theirs in zip(found(torch.zeros(1), ids)[0], known(torch.zeros(1), ids)[0], strict=True):
        assert torch.equal(torch.as_tensor(mine), torch.as_tensor(theirs))


def test_other_models_of_the_family_stay_as_they_are():
    one, other = tiny(), tiny()
    patch(one)
    assert not any(isinstance(module, PatchedRotary) for module in other.modules())
    assert torch.equal(logits(other), logits(unpatch(one)))


def test_the_last_one_puts_the_function_of_the_file_back():
    original, one, other = modeling_llama.apply_rotary_pos_emb, tiny(), tiny()
    patch(one)
    patch(other)
    unpatch(one)
    assert modeling_llama.apply_rotary_pos_emb is not original
    assert logits(other).isfinite().all()
    unpatch(other)
    assert modeling_llama.apply_rotary_pos_emb is original


def test_a_copy_and_a_saved_model_stay_patched_by_themselves():
    model = patch(tiny())
    known = logits(model)
    twin, file = copy.deepcopy(model), io.BytesIO()
    torch.save(model, file)
    unpatch(model)
    assert torch.equal(logits(twin), known)
    unpatch(twin)
    file.seek(0)
    assert torch.equal(logits(torch.load(file, weights_only=False)), known)


def test_weights_and_their_names_stay_so_checkpoints_load_either_way():
    plain, patched = tiny(), patch(tiny())
    assert plain.state_dict().keys() == patched.state_dict().keys()
    patched.load_state_dict(plain.state_dict())
    plain.load_state_dict(patched.state_dict())


@pytest.mark.parametrize("cast", [nn.Module.half, nn.Module.bfloat16])
@pytest.mark.parametrize("angles", ["hf", "exact"])
def test_casting_a_patched_model_leaves_its_angles_alone(cast, angles):
    model = patch(tiny(), angles=angles)
    ids = torch.tensor([[100000, 7]])
    before, _ = model.model.rotary_emb(torch.zeros(1), ids)
    after, _ = cast(model).model.rotary_emb(torch.zeros(1, dtype=torch.bfloat16), ids)
    assert torch.equal(before.cos, after.cos)
    assert torch.equal(before.sin, after.sin)
    assert after.cos.dtype == torch.float32


def test_patching_repairs_frequencies_that_a_cast_has_rounded():
    model = patch(tiny().bfloat16())
    rows, _ = model.model.rotary_emb(torch.zeros(1), torch.tensor([[100000]]))
    known, _ = patch(tiny()).model.rotary_emb(torch.zeros(1), torch.tensor([[100000]]))
    assert torch.equal(rows.cos, known.cos)


def test_a_model_made_on_meta_has_right_tables_after_loading():
    """Buffers that are not in the checkpoint come out of to_empty as they may; ours are no buffers."""
    known = patch(tiny())
    with torch.device("meta"):
        model = patch(transformers.AutoModelForCausalLM.from_config(known.config))
    model.to_empty(device="cpu").load_state_dict(known.state_dict())
    assert torch.equal(logits(model.eval()), logits(known))


def test_it_compiles_whole_and_at_most_once_more_as_time_grows():
    model, graphs = patch(tiny()), []

    def backend(graph, _):
        graphs.append(graph)
        return graph.forward

    compiled = torch.compile(model, fullgraph=True, backend=backend)
    for time in (5, 8, 13):
        ids = tokens(time=time)
        assert torch.equal(logits(compiled, ids, use_cache=False), logits(model, ids, use_cache=False))
    assert 1 <= len(graphs) <= 2


def stranger(**functions):
    """A file with a rotary module like Llama's, and functions of its own."""
    file = ModuleType("a_file_of_a_model")
    original = modeling_llama.LlamaRotaryEmbedding
    body = {"__module__": file.__name__, **{k: v for k, v in functions.items() if k == "forward"}}
    file.Rotary = type("Rotary", (original,), body)
    file.apply_rotary_pos_emb = functions.get("apply", modeling_llama.apply_rotary_pos_emb)
    if file.apply_rotary_pos_emb is None:
        del file.apply_rotary_pos_emb
    sys.modules[file.__name__] = file
    file.apply_other_rotary = apply_rotary_pos_emb
    layer = functions.get("layer", lambda self, q, k, cos, sin: apply_rotary_pos_emb(q, k, cos, sin))
    holder = nn.Module()
    holder.layer = type("Layer", (nn.Module,), {"__module__": file.__name__, "forward": layer})()
    holder.rotary_emb = file.Rotary(transformers.LlamaConfig(**SIZES, **functions.get("config", {})))
    return holder


def clockwise(q, k, cos, sin, unsqueeze_dim=1):
    return modeling_llama.apply_rotary_pos_emb(q, k, cos, -sin, unsqueeze_dim)


def on_values_too(q, k, v, cos, sin, unsqueeze_dim=1):
    return *modeling_llama.apply_rotary_pos_emb(q, k, cos, sin, unsqueeze_dim), v


def keys_shifted(q, k, cos, sin, unsqueeze_dim=1):
    return modeling_llama.apply_rotary_pos_emb(q, k + 1, cos, sin, unsqueeze_dim)


def with_its_mean(self, x, position_ids):
    first = position_ids.float().mean(0, keepdim=True) if position_ids.ndim == 3 else position_ids
    return modeling_llama.LlamaRotaryEmbedding.forward(self, x, first)


def changed(model):
    model.model.rotary_emb.inv_freq.mul_(1.001)
    return model


def forgotten():
    model = stranger()
    del model.rotary_emb.config
    return model


apply_other_rotary = apply_rotary_pos_emb


def two_functions(self, q, k, cos, sin):
    return apply_rotary_pos_emb(q, k, cos, sin), apply_other_rotary(q, k, cos, sin)


def the_last_ones(q, k, cos, sin, unsqueeze_dim=1):
    width = cos.shape[-1]
    turned = apply_rotary_pos_emb(q[..., -width:], k[..., -width:], cos, sin, unsqueeze_dim)
    return tuple(torch.cat((x[..., :-width], y), -1) for x, y in zip((q, k), turned, strict=True))


def small(name, **options):
    """A model by the name of its class, with the sizes that its family takes."""
    config = getattr(transformers, f"{name}Config")(**options)
    return getattr(transformers, f"{name}Model")(config).eval()


OLD = {"n_embd": 32, "n_layer": 1, "n_head": 2, "vocab_size": 9, "bos_token_id": 0, "eos_token_id": 1}
ENCODER = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
ENCODER |= {"vocab_size": 9, "pad_token_id": 0}


def test_a_model_with_a_base_and_no_other_parameters_is_patched():
    """ESM: its config has rope_theta alone."""
    model = small("Esm", position_embedding_type="rotary", **ENCODER)
    ids = torch.tensor([[3, 4, 5, 6, 3, 4]])
    with torch.no_grad():
        before = model(ids).last_hidden_state
        assert torch.equal(patch(model, angles="hf")(ids).last_hidden_state, before)
    tables = patch(unpatch(model)).rotary_embeddings.tables["all"].tables(6)
    assert all(map(torch.equal, tables, RotaryEmbedding(frequencies(10000, 16)).tables(6)))


LONG = {"rope_type": "dynamic", "rope_theta": 10000.0, "factor": 2.0}


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: patch(nn.Linear(2, 2)), "no module with a buffer inv_freq, nor other rotary positions; a"),
        (lambda: patch(small("GPT2", **OLD)), "no module with a buffer inv_freq, nor other rotary positions"),
        (
            lambda: patch(small("GPTJ", rotary_dim=8, **OLD)),
            r"model\.rotary_emb \(GPTJRotaryEmbedding\) is left as it is: its sin and cos come ready "
            r"\(embed_positions\); models work that form them from a buffer inv_freq, as Llama does",
        ),
        (
            lambda: patch(small("CodeGen", rotary_dim=8, **OLD)),
            r"\(CodeGenRotaryEmbedding\) .* come ready \(embed_pos",
        ),
        (lambda: patch(small("RoFormer", **ENCODER)), r"\(RoFormerSelfAttention\) .* come ready; models"),
        (lambda: patch(patch(tiny())), r"model is patched already; unpatch\(model\) first"),
        (lambda: unpatch(tiny()), r"model is not patched; patch\(model\) does that"),
        (
            lambda: patch(tiny("nanochat")),
            r"model\.model\.rotary_emb \(NanoChatRotaryEmbedding\) is left as it is: with its",
        ),
        (
            lambda: patch(tiny(rope_parameters=LONG)),
            "rope_type 'dynamic' changes its frequencies with the length",
        ),
        (lambda: patch(changed(tiny())), "inv_freq is not what its config gives"),
        (lambda: patch(stranger(apply=None)), "its file has no function apply_rotary_pos_emb"),
        (
            lambda: patch(stranger(apply=on_values_too)),
            r"takes \(q, k, v, cos, sin, unsqueeze_dim\) instead of",
        ),
        (lambda: patch(stranger(apply=clockwise)), "it is no rotation by inv_freq"),
        (lambda: patch(stranger(apply=keys_shifted)), "it is no rotation by inv_freq"),
        (lambda: patch(stranger(apply=the_last_ones)), "turns others than the first coordinates"),
        (
            lambda: patch(stranger(layer=two_functions)),
            "call apply_other_rotary, apply_rotary_pos_emb, not just",
        ),
        (lambda: patch(stranger(layer=lambda self, x: x)), "its layers call none of that kind"),
        (lambda: patch(stranger(forward=with_its_mean)), "positions stand on several axes"),
        (lambda: patch(stranger(forward=lambda self, x: x)), r"do not come from \(x, position_ids\) alone"),
        (lambda: patch(forgotten()), "it cannot be made again from its config alone"),
    ],
)
def test_a_model_that_is_not_known_is_left_as_it_is_with_one_sentence(call, words):
    function = modeling_llama.apply_rotary_pos_emb
    with pytest.raises(NotPatched, match=words):
        call()
    assert modeling_llama.apply_rotary_pos_emb is function or "already" in words


def test_a_call_that_makes_no_sense_is_refused_in_one_sentence():
    with pytest.raises(BadChoice, match="angles is 'fp32'; 'exact' or 'hf' works"):
        patch(tiny(), angles="fp32")
    for call, model in ((patch, "gpt2"), (unpatch, "gpt2"), (unpatch, None), (unpatch, nn.Linear)):
        with pytest.raises(BadDtype, match=r"model is a (str|NoneType|type); a transformers model works"):
            call(model)


def test_rows_of_ours_reach_only_our_kernel():
    """A layer that does something else with the tables fails at once instead of computing nonsense."""
    rows, nothing = patch(tiny()).model.rotary_emb(torch.zeros(1), torch.arange(3)[None])
    assert isinstance(rows, Rows)
    assert nothing is None
    with pytest.raises(AttributeError, match="unsqueeze"):
        modeling_llama.apply_rotary_pos_emb.__wrapped__(*torch.ones(2, 1, 1, 3, 16), rows, nothing)
