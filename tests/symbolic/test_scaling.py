"""Rules for the rotary spectrum against published decimals, exact identities, and what they refuse."""

import pytest
import sympy as sp
from decimals import printed
from exptx.symbolic.balls import enclose
from exptx.symbolic.errors import BadInput, ExptxError, WrongType
from exptx.symbolic.scaling import (
    Frequencies,
    dynamic,
    dynamic_stretch,
    endpoint_frequencies,
    linear,
    longrope,
    longrope_attention,
    ntk_aware,
    ntk_base,
    proportional,
    rotary,
)

s, b = sp.symbols("s b", positive=True)


def test_the_comparison_sees_the_last_digit_written():
    assert printed(sp.pi, "3.14159265")
    assert not printed(sp.pi, "3.14159266")
    assert printed(sp.pi / 10**6, "3.14159265e-6")
    assert not printed(sp.pi / 10**6, "3.14159264e-6")


# ------------------------------------------------------------------------------- golden values

INV_FREQ = [
    (10_000, 1, "0.8659643233600654"),
    (10_000, 63, "0.0001154781984689458"),
    (500_000, 1, "0.8146172338565447"),
    (500_000, 32, "0.001414213562373095"),
    (500_000, 63, "2.455140791131609e-6"),
    (1_000_000, 1, "0.8058421877614818"),
    (1_000_000, 16, "0.03162277660168379"),
    (1_000_000, 63, "1.240937760751720e-6"),
]


@pytest.mark.parametrize(("base", "plane", "decimal"), INV_FREQ)
def test_the_plain_table_has_the_published_digits(base, plane, decimal):
    assert printed(rotary(base, 128).exact[plane], decimal)


@pytest.mark.parametrize(("head_dim", "decimal"), [(16, "19869.17653159220"), (128, "54410.14313077675")])
def test_the_slowest_period_is_two_pi_over_the_last_frequency(head_dim, decimal):
    assert printed(2 * sp.pi / rotary(10_000, head_dim).exact[-1], decimal)


BASES = [
    (128, 4, "40889.94243248622"),
    (128, 2, "20221.26168973791"),
    (64, 8, "85550.37588568538"),
]


@pytest.mark.parametrize(("head_dim", "factor", "decimal"), BASES)
def test_the_ntk_base_has_the_published_digits(head_dim, factor, decimal):
    assert printed(ntk_base(10_000, head_dim, factor), decimal)


def test_the_ntk_table_has_the_published_digits():
    table = ntk_aware(10_000, 128, 4).exact
    assert printed(table[1], "0.8471171851512068")
    assert printed(table[63], "2.886954961723645e-5")


def test_the_dynamic_base_has_the_published_digits():
    stretch = dynamic_stretch(2, 2048, 4096)
    assert stretch == 3
    assert printed(ntk_base(10_000, 128, stretch), "30527.73674880670")


def test_the_longrope_amplitude_has_the_published_digits():
    assert printed(longrope_attention(32, 4096), "1.190238071423808")


def test_p_rope_keeps_a_quarter_of_the_planes_and_the_whole_denominator():
    table = proportional(1_000_000, 512, sp.Rational(1, 4)).exact
    assert len(table) == 256
    assert sum(1 for w in table if w != 0) == 64
    assert all(w == 0 for w in table[64:])
    assert printed(table[63], "0.03337624694292039")


def test_the_angles_of_retention_reach_the_end_of_the_base():
    decimals = ["1", ".04641588833612779", ".002154434690031884", "0.0001"]
    found = endpoint_frequencies(4).exact
    assert all(printed(w, d) for w, d in zip(found, decimals, strict=True))
    assert found[3] == sp.Rational(1, 10_000)
    assert endpoint_frequencies(1).exact == (1,)
    assert rotary(10_000, 8).exact[3] == sp.Rational(1, 1000)


# ---------------------------------------------------------------------------------- identities


@pytest.mark.parametrize("head_dim", [4, 6, 8, 64, 128])
def test_ntk_keeps_the_first_frequency_and_divides_the_last_by_the_factor(head_dim):
    plain, stretched = rotary(b, head_dim).exact, ntk_aware(b, head_dim, s).exact
    assert stretched[0] == plain[0] == 1
    assert sp.expand_power_base(stretched[-1] * s / plain[-1], force=True) == 1


@pytest.mark.parametrize("head_dim", [4, 8, 128])
def test_the_ntk_table_is_the_plain_table_of_the_new_base(head_dim):
    """Raised to head_dim, plane k is base'^(-2k) exactly."""
    for factor in (sp.Integer(4), sp.Rational(3, 2)):
        base = ntk_base(10_000, head_dim, factor)
        for k, w in enumerate(ntk_aware(10_000, head_dim, factor)):
            found = enclose(sp.log(w) * head_dim + 2 * k * sp.log(base), 30)
            assert abs(found.lower) < sp.Rational(1, 10**25)
            assert abs(found.upper) < sp.Rational(1, 10**25)


def test_interpolation_divides_every_frequency():
    assert linear(b, 6, s).exact == tuple(w / s for w in rotary(b, 6))


def test_dynamic_is_the_plain_table_up_to_the_original_length_and_then_changes():
    plain = rotary(10_000, 64)
    assert dynamic(10_000, 64, 4, 2048, 1) == dynamic(10_000, 64, 4, 2048, 2048) == plain
    assert dynamic(10_000, 64, 4, 2048, 2049).exact[1] != plain.exact[1]
    assert dynamic(10_000, 64, 4, 2048, 8192) == ntk_aware(10_000, 64, 13)


def test_longrope_divides_each_plane_by_its_own_factor():
    table = longrope(10_000, 4, [2, s], sp.Rational(3, 2))
    assert table == Frequencies((sp.Rational(1, 2), 1 / (100 * s)), sp.Rational(3, 2))
    assert longrope_attention(1, 4096) == longrope_attention(sp.Rational(1, 2), 4096) == 1


def test_whole_p_rope_is_the_plain_table_and_none_of_it_is_no_position():
    assert proportional(10_000, 16, 1) == rotary(10_000, 16)
    assert proportional(10_000, 16, 0).exact == (0,) * 8
    assert proportional(10_000, 16, 1, 4) == linear(10_000, 16, 4)


def test_p_rope_rounds_the_number_of_planes_down():
    third = proportional(10_000, 16, sp.Rational(1, 3)).exact
    assert [w != 0 for w in third] == [True] * 2 + [False] * 6
    assert sum(w != 0 for w in proportional(10_000, 16, sp.Rational(3, 8)).exact) == 3


# ------------------------------------------------------------------------------------ refusals

REFUSED = [
    (lambda: linear(10_000, 4, 0), BadInput, ["factor is 0", "positive"]),
    (lambda: linear(10_000, 4, 0.5), WrongType, ["factor is 0.5", "float"]),
    (lambda: linear(10_000, 5, 2), BadInput, ["head_dim is 5", "odd"]),
    (lambda: ntk_aware(10_000, 2, 2), BadInput, ["head_dim is 2", "at least 4"]),
    (lambda: ntk_base(10_000, 2, 2), BadInput, ["head_dim is 2", "at least 4"]),
    (lambda: dynamic(10_000, 4, 2, 2048, 0), BadInput, ["seq_len is 0"]),
    (lambda: dynamic(10_000, 4, 2, 0, 5), BadInput, ["max_position_embeddings is 0"]),
    (lambda: longrope(10_000, 4, [1]), BadInput, ["1 factors", "2 planes"]),
    (lambda: longrope(10_000, 4, "ab"), WrongType, ["'ab'", "a list"]),
    (lambda: longrope(10_000, 4, [1, -2]), BadInput, ["factors[1] is -2"]),
    (lambda: longrope_attention(2, 1), BadInput, ["original_max_position_embeddings is 1", "logarithm"]),
    (lambda: longrope_attention(s, 4096), BadInput, ["factor is", "symbols"]),
    (lambda: proportional(10_000, 4, 2), BadInput, ["partial_rotary_factor is 2", "0 to 1"]),
    (lambda: proportional(10_000, 4, -1), BadInput, ["partial_rotary_factor is -1", "0 to 1"]),
    (lambda: endpoint_frequencies(0), BadInput, ["count is 0"]),
]


@pytest.mark.parametrize(("call", "error", "words"), REFUSED)
def test_a_refusal_names_the_argument_and_what_would_work(call, error, words):
    with pytest.raises(error) as caught:
        call()
    assert isinstance(caught.value, ExptxError)
    assert all(word in str(caught.value) for word in words), str(caught.value)
    assert "\n" not in str(caught.value)
