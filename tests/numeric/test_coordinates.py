"""Rotary embeddings of positions with several coordinates: images, videos, and text among them."""

import mpmath
import pytest
import sympy as sp
import torch
from exptx.numeric import (
    BadChoice,
    BadTensor,
    PositionOutOfRange,
    RotaryEmbedding,
    TooLarge,
    exact,
    rerotate,
    rotary_table,
)
from exptx.proofs import budget
from exptx.symbolic import BadInput, axis_frequencies, encoding, frequencies, sectioned
from exptx.symbolic.scaling import dynamic, linear, rotary

AXIAL = encoding("axial", head_dim=16)
VIDEO = encoding("rope_3d", head_dim=12)
MIXED = encoding("rope_mixed", head_dim=8, fx=[1, -2, sp.Rational(1, 3), 0], fy=[0, sp.pi, -1, 2])
QWEN = sectioned(frequencies(1_000_000, 128), (16, 24, 24))
QWEN3 = sectioned(frequencies(1_000_000, 128), (24, 20, 20), "interleaved")


def drawn(*shape, dtype=torch.float64, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(dtype)


GOLDEN = {  # planes of Qwen2-VL at (t, h, w) = (1, 2, 3), with 40 digits
    0: 1, 15: 0.03924189758484536, 16: 0.06324555320336759, 39: 0.0004413468138169180,
    40: 0.0005334838230116768, 63: 3.722813282255159e-6,
}  # fmt: skip


def test_the_angles_of_qwen2_vl_are_the_published_ones():
    cos, sin = rotary_table(QWEN, torch.tensor([1, 2, 3]), dtype=torch.float64)
    for plane, angle in GOLDEN.items():
        assert torch.atan2(sin, cos)[plane].item() == pytest.approx(angle, rel=4 * budget.ORACLE)


def test_the_two_layouts_read_the_coordinates_that_their_models_read():
    """Plane 1 belongs to time in one and to height in the other; text cannot tell them apart."""
    ids = torch.tensor([[5], [7], [11]])
    owners = {"chunked": (0, 0, 1, 2), "interleaved": (0, 1, 2, 0)}
    for layout, owner in owners.items():
        found = rotary_table(sectioned(rotary(10_000, 8), (2, 1, 1), layout), ids, dtype=torch.float64)
        for plane, axis in enumerate(owner):
            angle = mpmath.mpf(10) ** -plane * [5, 7, 11][axis]
            assert abs(found[0][0, plane].item() - mpmath.cos(angle)) <= budget.table_entry(11, "float64")


@pytest.mark.parametrize("encoded", [AXIAL, VIDEO, MIXED], ids=lambda e: e.name)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_every_entry_is_within_its_budget_of_the_sum_of_all_axes(encoded, dtype):
    waves = axis_frequencies(encoded)
    ids = torch.tensor([[0, 3, -70_001], [9, 1_000, 65_536], [-1, 5, 0]][: waves.axes])
    cos, sin = rotary_table(waves, ids, dtype=dtype)
    with mpmath.workdps(40):
        for token in range(3):
            for plane in range(len(waves)):
                rates = [mpmath.mpf(str(sp.N(axis[plane], 40))) for axis in waves.exact]
                parts = [w * p for w, p in zip(rates, ids[:, token].tolist(), strict=True)]
                angle, reach = sum(parts), float(sum(map(abs, parts)))
                bound = budget.table_entry(reach, dtype) + (waves.axes - 1) * budget.ORACLE * reach
                assert abs(cos[token, plane].item() - mpmath.cos(angle)) <= bound
                assert abs(sin[token, plane].item() - mpmath.sin(angle)) <= bound


@pytest.mark.parametrize("encoded", [AXIAL, VIDEO, MIXED], ids=lambda e: e.name)
def test_exact_tables_on_several_axes_are_the_nearest_floats(encoded):
    """Against sums in mpmath with 80 digits, at coordinates that float64 cannot hold."""
    waves = axis_frequencies(encoded)
    ids = [[10**30 + 1, 7], [-(10**20), 0], [3, 10**25]][: waves.axes]
    cos, sin = exact.rotary_table(waves, ids, dtype=torch.float64)
    with mpmath.workdps(80):
        for token in range(2):
            for plane in range(len(waves)):
                rates = [mpmath.mpf(str(sp.N(axis[plane], 80))) for axis in waves.exact]
                angle = sum(w * p[token] for w, p in zip(rates, ids, strict=True))
                assert cos[token, plane].item() == float(mpmath.cos(angle))
                assert sin[token, plane].item() == float(mpmath.sin(angle))


def test_exact_tables_take_a_row_a_coordinate():
    with pytest.raises(BadTensor, match=r"position_ids has shape \(2, 5\), but positions have 3 coordinates"):
        exact.rotary_table(QWEN, torch.zeros(2, 5, dtype=torch.long))
    rates = torch.tensor([[1.0, 0.5], [0.25, -1.0]])
    found = exact.rotary_table(rates, torch.tensor([[2], [4]]), dtype=torch.float64)[0]
    assert found[0].tolist() == [float(mpmath.cos(3)), float(mpmath.cos(-3))]


def turned(rotate, x, ids):
    return rotate(x, x, ids)[0]


def vector_error(rotate, ids):
    """How far a rotated float64 vector may be off, relative to its length: by its table and by its turn."""
    reach = (ids.double().abs().amax((1, 2)) @ rotate._inv_freq.abs()).max().item()
    table = budget.table_entry(reach, "float64") + (rotate.axes - 1) * budget.ORACLE * reach
    return budget.rotated_vector(table, "float64")


def score_error(rotate, ids, norms):
    error = vector_error(rotate, ids)
    return budget.score_of_vectors(norms, error, error, rotate.rotary_dim, "float64")


@pytest.mark.parametrize("encoded", [AXIAL, VIDEO, MIXED], ids=lambda e: e.name)
def test_one_vector_added_to_all_positions_leaves_the_scores(encoded):
    rotate = RotaryEmbedding.from_encoding(encoded)
    ids = torch.randint(-50, 50, (rotate.axes, 1, 6), generator=torch.Generator().manual_seed(1))
    shifts = torch.tensor([[100, -7, 3], [100, 0, 0], [0, 60, 0]])[:, : rotate.axes, None, None]
    q, k = drawn(2, 1, 1, 1, rotate.rotary_dim, seed=3).expand(-1, -1, -1, 6, -1)
    norms = float(q[0, 0, 0].norm() * k[0, 0, 0].norm())

    def scores(ids):
        return turned(rotate, q.contiguous(), ids) @ turned(rotate, k.contiguous(), ids).transpose(-1, -2)

    before = scores(ids)
    for shift in shifts:
        bound = 2 * score_error(rotate, ids + shift, norms)
        assert (before - scores(ids + shift)).abs().max() <= bound
    assert (before - scores(ids.flip(0))).abs().max() > 1e6 * score_error(rotate, ids, norms)


@pytest.mark.parametrize("encoded", [AXIAL, VIDEO, MIXED], ids=lambda e: e.name)
def test_from_encoding_turns_as_the_exact_encoding_does(encoded):
    """Frequencies, pairing and direction: scores of the module are those of the formula."""
    rotate = RotaryEmbedding.from_encoding(encoded)
    t, s = (5, 2, 7)[: rotate.axes], (1, 3, -4)[: rotate.axes]
    q, k = (sp.Matrix(range(a, a + encoded.head_dim)) for a in (1, -3))
    known = float(sp.N(encoded.score(t, s, q=q, k=k), 30))
    ids = torch.tensor([t, s]).T[:, None]
    tokens = torch.tensor([[int(x) for x in row] for row in (q, k)], dtype=torch.float64)
    first, second = turned(rotate, tokens[None, None], ids)[0, 0]
    bound = score_error(rotate, ids, float(tokens[0].norm() * tokens[1].norm()))
    assert abs((first * second).sum().item() - known) <= bound


@pytest.mark.parametrize("waves", [QWEN, QWEN3], ids=["chunked", "interleaved"])
@pytest.mark.parametrize("angles", ["exact", "hf"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_text_is_rotated_as_on_one_axis_to_the_last_bit(waves, angles, dtype):
    q, k = drawn(2, 2, 3, 5, 128, dtype=dtype)
    plain = RotaryEmbedding(frequencies(1_000_000, 128), angles=angles)
    several = RotaryEmbedding(waves, angles=angles)
    for ids in (torch.arange(5) + 100_000, torch.arange(10).reshape(2, 5)):
        assert all(map(torch.equal, several(q, k, ids), plain(q, k, ids)))
    equal = (torch.arange(5) + 7).expand(3, 1, 5)
    assert all(map(torch.equal, several(q, k, equal), plain(q, k, equal[0])))
    assert torch.equal(several.tables(5)[0], plain.tables(5)[0])


def test_hf_angles_are_one_float32_product_a_plane():
    """As transformers forms them for Qwen2-VL: positions times inv_freq on each axis, then the sections."""
    ids = torch.randint(0, 100_000, (3, 2, 5), generator=torch.Generator().manual_seed(2))
    inv_freq = 1.0 / (1e6 ** (torch.arange(0, 128, 2, dtype=torch.int64).float() / 128))
    products = inv_freq * ids[..., None].float()
    known = torch.cat([part[i] for i, part in enumerate(products.split((16, 24, 24), -1))], -1)
    found = RotaryEmbedding(QWEN, angles="hf").tables(ids)
    assert torch.equal(found[0], known.cos())
    assert torch.equal(found[1], known.sin())


def test_learned_frequencies_may_have_any_sign_and_have_gradients():
    rates = drawn(2, 4).requires_grad_()
    ids = torch.randint(-9, 9, (2, 3), generator=torch.Generator().manual_seed(1))
    assert torch.autograd.gradcheck(lambda w: rotary_table(w, ids, dtype=torch.float64), rates)
    module = RotaryEmbedding(rates.detach())
    assert torch.equal(module.tables(ids)[0], rotary_table(rates.detach(), ids)[0])


def test_a_row_in_a_batch_is_the_row_alone():
    rotate = RotaryEmbedding(QWEN)
    q, k = drawn(2, 2, 1, 5, 128, dtype=torch.float32)
    ids = torch.randint(0, 900, (3, 2, 5), generator=torch.Generator().manual_seed(2))
    both = rotate(q, k, ids)
    for row in range(2):
        alone = rotate(q[row : row + 1], k[row : row + 1], ids[:, row : row + 1])
        assert all(torch.equal(a[row : row + 1], b) for a, b in zip(both, alone, strict=True))


def test_it_compiles_on_axes_and_on_text_without_a_graph_break():
    rotate = RotaryEmbedding(QWEN)
    compiled = torch.compile(rotate, backend="eager", fullgraph=True)
    q, k = drawn(2, 1, 1, 5, 128, dtype=torch.float32)
    for ids in (torch.arange(15).reshape(3, 1, 5), torch.arange(5)):
        assert all(map(torch.equal, compiled(q, k, ids), rotate(q, k, ids)))


def test_cached_keys_of_an_image_are_carried_over():
    old, new = (sectioned(f, (1, 1, 2)) for f in (rotary(10_000, 8), linear(10_000, 8, 4)))
    before, after = RotaryEmbedding(old), RotaryEmbedding(new)
    k, ids = drawn(1, 2, 3, 8), torch.tensor([[[1, 1, 1]], [[0, 4, 9]], [[7, 700, 2]]])
    cached, known = turned(before, k, ids), turned(after, k, ids)
    turn = budget.rotated_vector(budget.rerotation_entry(700, 175, "float64"), "float64")
    bound = 2 * (turn + vector_error(before, ids) + vector_error(after, ids)) * k.norm(dim=-1, keepdim=True)
    assert ((rerotate(cached, ids, old, new) - known).abs() <= bound).all()
    assert ((cached - known).abs() > 1e6 * bound).any()


Q = torch.ones(2, 1, 5, 128)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (
            lambda: RotaryEmbedding(QWEN)(Q, Q, torch.zeros(3, 2, 4, dtype=torch.long)),
            BadTensor,
            r"shape \(3, 2, 4\), but there are 2 sequences of 5 tokens and 3 coordinates; shape "
            r"\(3, 2 or 1, 5\).*, or \(5,\) or \(2, 5\) for text",
        ),
        (lambda: RotaryEmbedding(QWEN)(Q, Q, torch.zeros(2, 2, 5, dtype=torch.long)), BadTensor, "3 coordin"),
        (lambda: RotaryEmbedding(QWEN)(Q, Q, torch.zeros(3, 5, dtype=torch.long)), BadTensor, "position_ids"),
        (
            lambda: RotaryEmbedding.from_encoding(AXIAL)(Q[..., :16], Q[..., :16], torch.arange(5)),
            BadTensor,
            r"shape \(5,\), but there are 2 sequences of 5 tokens and 2 coordinates; .* coordinate, works$",
        ),
        (
            lambda: RotaryEmbedding.from_encoding(AXIAL)(Q, Q, torch.zeros(2, 1, 5)),
            BadTensor,
            "q has head_dim 128, but the config or encoding of this module says 16; heads of 16",
        ),
        (lambda: RotaryEmbedding.from_encoding(AXIAL).tables(5), BadTensor, "2 coordinates"),
        (lambda: RotaryEmbedding(QWEN).tables(torch.arange(5)), BadTensor, "positions have 3 coordinates"),
        (lambda: rotary_table(QWEN, torch.zeros(2, 5)), BadTensor, "positions have 3 coordinates"),
        (lambda: rotary_table(torch.ones(2, 4), torch.tensor(1)), BadTensor, "positions have 2 coordinates"),
        (lambda: rotary_table(torch.ones(2, 4), torch.full((2, 1), 2**28)), TooLarge, "the largest angle"),
        (lambda: RotaryEmbedding.from_encoding(encoding("rope", head_dim=4)), BadInput, "encoding rope"),
        (
            lambda: RotaryEmbedding(axis_frequencies(AXIAL), angles="hf"),
            BadChoice,
            "angles='hf' needs the base",
        ),
        (
            lambda: RotaryEmbedding(sectioned(dynamic(10_000, 8, 2, 64, 64), (2, 1, 1))).tables(65),
            PositionOutOfRange,
            "position_ids contains 64, but these frequencies hold in texts of at most 64 tokens",
        ),
    ],
)
def test_positions_that_do_not_fit_the_axes_are_refused_in_one_sentence(call, error, words):
    with pytest.raises(error, match=words):
        call()


VL = {
    "model_type": "qwen2_vl",
    "hidden_size": 3584,
    "num_attention_heads": 28,
    "max_position_embeddings": 32768,
    "rope_theta": 1000000.0,
    "rope_scaling": {"type": "mrope", "mrope_section": [16, 24, 24]},
}
VL3 = {
    "model_type": "qwen3_vl_text",
    "head_dim": 128,
    "max_position_embeddings": 262144,
    "rope_parameters": {
        "rope_type": "default",
        "rope_theta": 5000000,
        "mrope_section": [24, 20, 20],
        "mrope_interleaved": True,
    },
}


def test_a_config_with_sections_has_positions_of_three_coordinates():
    ids = torch.randint(0, 9_000, (3, 2, 5), generator=torch.Generator().manual_seed(2))
    for config, waves in (
        (VL, QWEN),
        (VL3, sectioned(frequencies(5_000_000, 128), (24, 20, 20), "interleaved")),
    ):
        for angles in ("exact", "hf"):
            found, known = (
                RotaryEmbedding.from_config(config, angles=angles),
                RotaryEmbedding(waves, angles=angles),
            )
            assert all(map(torch.equal, found.tables(ids), known.tables(ids)))
            assert torch.equal(found.tables(7)[0], known.tables(7)[0])


def test_a_config_that_follows_the_length_is_held_to_it_with_both_kinds_of_angles():
    config = {"head_dim": 16, "max_position_embeddings": 64}
    config["rope_parameters"] = {"rope_type": "dynamic", "rope_theta": 10000, "factor": 2.0}
    for angles in ("exact", "hf"):
        rotate = RotaryEmbedding.from_config(config, seq_len=100, angles=angles)
        assert rotate.longest == 100
        with pytest.raises(PositionOutOfRange):
            rotate.tables(101)


@pytest.mark.parametrize("angles", ["exact", "hf"])
def test_made_on_meta_it_turns_as_on_the_cpu(angles):
    with torch.device("meta"):
        made = RotaryEmbedding(QWEN, angles=angles), RotaryEmbedding.from_config(VL, angles=angles)
    ids = torch.arange(15).reshape(3, 1, 5)
    for rotate in made:
        assert torch.equal(rotate.tables(ids)[0], RotaryEmbedding(QWEN, angles=angles).tables(ids)[0])


def test_coordinates_without_a_batch_are_told_where_theirs_goes():
    """(axes, time) is neither text nor coordinates; the refusal names the shape that is."""
    turned = RotaryEmbedding(sectioned(frequencies(1000000, 128), (16, 24, 24)))
    x = torch.zeros(1, 1, 5, 128)
    with pytest.raises(BadTensor, match=r"shape \(3, 1 or 1, 5\), one row a coordinate, works"):
        turned(x, x, torch.zeros(3, 5, dtype=torch.int64))
