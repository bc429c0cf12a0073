"""YaRN, Llama 3 and p-RoPE: golden values from the entries themselves, verdicts, the folded amplitude."""

import pytest
import sympy as sp
from exptx.symbolic import BadInput, Inequivalent, encoding, equivalent
from exptx.symbolic.catalogue import entries
from exptx.symbolic.decide import decide
from exptx.symbolic.ramps import yarn, yarn_attention
from exptx.symbolic.verdicts import verdicts

T, S = sp.symbols("t s", real=True)
YARN = {"head_dim": 128, "factor": 16, "original_max_position_embeddings": 4096}


def waves(member):
    """The frequencies, plane by plane; a plane that holds has none."""
    return [block.frequency for block in member.content_generator.blocks]


# ------------------------------------------------------------------------------- golden values


@pytest.mark.parametrize(
    ("ramp", "decimals"),
    [
        ("code", {20: "0.05623413251903491", 21: "0.04694085999795940", 33: "0.004600435467850347"}),
        ("code", {45: "0.0001517716047318249", 46: "8.334508951020775e-5"}),
        ("paper", {20: "0.05623413251903491", 21: "0.04832172921501631", 33: "0.001757735528861942"}),
        ("paper", {45: "9.642591545833584e-5", 46: "8.334508951020775e-5"}),
    ],
)
def test_yarn_turns_its_planes_by_the_published_frequencies(ramp, decimals, rounds_to):
    found = waves(encoding("yarn", **YARN, ramp=ramp))
    assert all(rounds_to(found[plane], decimal) for plane, decimal in decimals.items())


def test_the_options_of_yarn_reach_its_frequencies_and_its_amplitude():
    half = sp.Rational(1, 2)
    options = {"beta_fast": 16, "beta_slow": half, "truncate": False}
    table = yarn(10_000, 128, 16, 4096, **options)
    assert waves(encoding("yarn", **YARN, **options)) == list(table)
    assert waves(encoding("yarn", **YARN)) != list(table)
    assert encoding("yarn", **YARN, attention_factor=2).amplitude == 2
    scaled = encoding("yarn", **YARN, mscale=half, mscale_all_dim=2).amplitude
    assert scaled == yarn_attention(16, half, 2)


def test_the_score_of_yarn_carries_the_square_of_the_published_amplitude(rounds_to):
    member = encoding("yarn", **YARN)
    e0 = [1] + [0] * 127
    assert rounds_to(member.amplitude, "1.277258872223978")
    assert rounds_to(member.score(7, 7, q=e0, k=e0), "1.631390226674868")
    turned = sp.cos(9) * sp.cos(7) + sp.sin(9) * sp.sin(7)
    assert sp.expand(member.score(9, 7, q=e0, k=e0) - member.amplitude**2 * turned) == 0


@pytest.mark.parametrize(
    ("plane", "decimal"),
    [
        (28, "0.003211445994752591"),
        (29, "0.002166570763503359"),
        (34, "0.0001785078127679964"),
        (35, "9.556212353964683e-5"),
        (63, "3.068925988914511e-7"),
    ],
)
def test_llama3_turns_its_planes_by_the_published_frequencies(plane, decimal, rounds_to):
    assert rounds_to(waves(encoding("llama3", head_dim=128))[plane], decimal)


def test_p_rope_holds_all_but_the_published_number_of_planes(rounds_to):
    member = encoding("p_rope", head_dim=512, proportion=sp.Rational(1, 4), rope_theta=10**6)
    assert [block.kind for block in member.content_generator.blocks[:64]] == ["turn"] * 64
    assert {block.kind for block in member.content_generator.blocks[64:]} == {"hold"}
    assert rounds_to(waves(member)[63], "0.03337624694292039")


def test_p_rope_is_not_rotary_of_fewer_features():
    """Half of four planes dropped: the denominator stays 8. Rotating 4 of 8 features: it is 4."""
    dropped = encoding("p_rope", head_dim=8, proportion=sp.Rational(1, 2))
    partial = encoding("rope", head_dim=8, rotary_dim=4)
    assert waves(dropped)[:2] == [1, sp.Rational(1, 10)]
    assert waves(partial)[:2] == [1, sp.Rational(1, 100)]
    assert isinstance(equivalent(dropped, partial), Inequivalent)


# ------------------------------------------------------------------------------------- verdicts


@pytest.mark.parametrize("name", ["yarn", "llama3", "p_rope"])
def test_a_frozen_recipe_answers_every_question_with_yes(name):
    answers = verdicts(entries()[name].shown()).answers()
    assert {answer.word for answer in answers.values()} == {"yes"}


@pytest.mark.parametrize("ramp", ["code", "paper"])
def test_the_examples_of_yarn_and_llama3_blend_a_plane(ramp):
    blended = encoding("yarn", **{**entries()["yarn"].example, "ramp": ramp})
    llama = entries()["llama3"].shown()
    for member, plain, factor in ((blended, sp.Rational(1, 10), 4), (llama, sp.Rational(1, 100), 8)):
        first, last = waves(member)
        assert first == 1
        assert plain / factor < last < plain


def test_the_amplitude_folds_into_the_query_projection():
    """M(0) = m²I before, M(0) = I after, and the scores of m² q are the old ones."""
    member = entries()["yarn"].shown().symbolic()[0]
    folded, square = member.folded()
    q, k = member.content()
    assert decide(member.score(S, S), square * q.dot(k)).holds
    assert decide(folded.score(S, S), q.dot(k)).holds
    assert not decide(member.score(S, S), q.dot(k)).holds
    assert decide(folded.score(T, S, q=list(square * q)), member.score(T, S)).holds
    assert folded.has_group_law().holds


def test_no_change_of_basis_mends_an_amplitude():
    member = entries()["yarn"].shown()
    assert "only a factor on W_q" in equivalent(member, member.folded()[0]).reason
    assert not isinstance(equivalent(member, member), Inequivalent)


def test_a_bias_is_not_amplified():
    member = entries()["yarn"].shown()
    alibi = encoding("alibi", slope=1, head_dim=4)
    for both in (member + alibi, alibi + member):
        assert both.amplitude == member.amplitude
        assert sp.expand(both.score(5, 2) - member.score(5, 2) - alibi.score(5, 2, q=[0] * 4)) == 0
        assert both.is_relative().holds


# ------------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("name", "given", "words"),
    [
        ("yarn", {**YARN, "attention_factor": 1, "mscale": 1}, "attention_factor and mscale"),
        ("yarn", {**YARN, "mscale": sp.Rational(1, 2)}, "mscale is 1/2"),
        ("yarn", {**YARN, "ramp": "both"}, "ramp is 'both'"),
        ("llama3", {"head_dim": 4, "low_freq_factor": 5}, "low_freq_factor is 5"),
        ("p_rope", {"head_dim": 4, "proportion": 2}, "2"),
    ],
)
def test_a_refusal_names_the_argument(name, given, words):
    with pytest.raises(BadInput, match=words):
        encoding(name, **given)
