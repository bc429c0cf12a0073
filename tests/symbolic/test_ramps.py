"""YaRN and Llama 3 plane by plane: published decimals, where the ramps start and end, what is refused."""

import math

import pytest
import sympy as sp
from decimals import printed
from exptx.symbolic.errors import BadInput, ExptxError
from exptx.symbolic.ramps import (
    llama3,
    turns_kept,
    yarn,
    yarn_attention,
    yarn_kept,
    yarn_plane,
    yarn_range,
)
from exptx.symbolic.scaling import rotary

# ---------------------------------------------------------------------------------------- yarn

BASE, DIM, SHORT, S = 10_000, 128, 4096, 16

CODE = [
    (20, "1", "0.05623413251903491"),
    (21, "0.9615384615", "0.04694085999795940"),
    (33, "0.5", "0.004600435467850347"),
    (45, "0.03846153846", "0.0001517716047318249"),
    (46, "0", "8.334508951020775e-5"),
]


def test_the_raw_planes_of_the_ramp_have_the_published_digits():
    assert printed(yarn_plane(BASE, DIM, SHORT, 32), "20.9444816206")
    assert printed(yarn_plane(BASE, DIM, SHORT, 1), "45.0268812738")


def test_the_ramp_of_the_code_runs_from_the_floor_to_the_ceiling():
    assert yarn_range(BASE, DIM, SHORT) == (20, 46)
    assert yarn_range(BASE, DIM, 2048) == (16, 41)
    assert yarn_range(1_000_000, DIM, 32768) == (23, 40)
    assert yarn_range(BASE, DIM, SHORT, truncate=False) == tuple(
        yarn_plane(BASE, DIM, SHORT, r) for r in (32, 1)
    )


def test_the_ramp_of_the_code_may_end_beyond_the_last_plane():
    """From L0 = 2π base on, high counts features, not planes: 70, where planes end at 63."""
    assert yarn_range(BASE, DIM, 131072)[1] == 70
    assert yarn_range(BASE, DIM, 10**9, beta_fast=10**6)[1] == DIM - 1


@pytest.mark.parametrize(("plane", "kept", "decimal"), CODE)
def test_yarn_as_coded_has_the_published_digits(plane, kept, decimal):
    assert printed(yarn_kept(BASE, DIM, SHORT)[plane], kept)
    assert printed(yarn(BASE, DIM, S, SHORT).exact[plane], decimal)


PAPER = [
    (20, "36.65895490", "1", "0.05623413251903491"),
    (21, "31.74534707", "0.9917853895", "0.04832172921501631"),
    (33, "5.645209707", "0.1498454744", "0.001757735528861942"),
    (45, "1.003876019", "0.0001250328603", "9.642591545833584e-5"),
    (46, "0.8693208172", "0", "8.334508951020775e-5"),
]


@pytest.mark.parametrize(("plane", "turns", "kept", "decimal"), PAPER)
def test_yarn_as_in_the_paper_has_the_published_digits(plane, turns, kept, decimal):
    assert printed(SHORT * rotary(BASE, DIM).exact[plane] / (2 * sp.pi), turns)
    assert printed(turns_kept(BASE, DIM, SHORT, 1, 32)[plane], kept)
    assert printed(yarn(BASE, DIM, S, SHORT, ramp="paper").exact[plane], decimal)


def test_the_amplitude_of_yarn_has_the_published_digits():
    m = yarn(BASE, DIM, S, SHORT).attention_factor
    assert printed(m, "1.277258872223978")
    assert printed(m**2, "1.631390226674868")
    assert printed(yarn(BASE, DIM, 4, 2048).attention_factor, "1.138629436111989")


def test_two_more_tables_of_yarn_have_the_published_digits():
    assert printed(yarn(BASE, DIM, 4, 2048).exact[28], "0.01138098822424911")
    assert printed(yarn(1_000_000, DIM, 4, 32768).exact[31], "0.0008029597275452303")


@pytest.mark.parametrize("ramp", ["code", "paper"])
@pytest.mark.parametrize("truncate", [True, False])
def test_fast_planes_are_kept_and_slow_ones_divided(ramp, truncate):
    plain = rotary(BASE, DIM).exact
    table = yarn(BASE, DIM, S, SHORT, ramp=ramp, truncate=truncate).exact
    assert table[:21] == plain[:21]
    assert table[46:] == tuple(w / S for w in plain[46:])
    assert all(a.is_positive for a in table)


def test_without_rounding_the_ramp_starts_and_ends_at_the_raw_planes():
    low, high = (yarn_plane(BASE, DIM, SHORT, r) for r in (32, 1))
    kept = yarn_kept(BASE, DIM, SHORT, truncate=False)
    assert kept[20] == 1
    assert kept[21] == 1 - (21 - low) / (high - low)
    assert kept[45] == 1 - (45 - low) / (high - low)
    assert kept[46] == 0


def test_a_ramp_of_no_width_gets_the_width_of_the_code():
    """Where low = high the code puts 0.001 between them: that plane is kept, the next one divided."""
    assert yarn_range(BASE, 4, 6) == (0, 0)
    assert yarn_kept(BASE, 4, 6) == (1, 0)


def test_the_amplitude_follows_both_scales_or_neither():
    log = sp.log(40)
    ratio = (1 + sp.Rational(707, 1000) * log / 10) / (1 + log / 20)
    assert yarn_attention(40, sp.Rational(707, 1000), sp.Rational(1, 2)) == ratio
    assert yarn_attention(40, 1, 1) == 1
    assert yarn_attention(40, 1, 0) == yarn_attention(40, 1) == yarn_attention(40) == 1 + log / 10
    assert yarn_attention(1) == yarn_attention(sp.Rational(1, 2)) == yarn_attention(1, 3, 2) == 1
    assert yarn(BASE, DIM, S, SHORT, attention_factor=2).attention_factor == 2


# -------------------------------------------------------------------------------------- llama 3

LLAMA = [
    (28, "0.003211445994752591"),
    (29, "0.002166570763503359"),
    (30, "0.001371893567761138"),
    (31, "0.0008567514129196321"),
    (32, "0.0005248461609929547"),
    (33, "0.0003126937503840651"),
    (34, "0.0001785078127679964"),
    (35, "9.556212353964683e-5"),
    (63, "3.068925988914511e-7"),
]


@pytest.mark.parametrize(("plane", "decimal"), LLAMA)
def test_llama3_has_the_published_digits(plane, decimal):
    assert printed(llama3(500_000, 128, 8, 8192, 1, 4).exact[plane], decimal)


def test_the_blend_of_llama3_has_the_published_digits():
    kept = turns_kept(500_000, 128, 8192, 1, 4)
    assert printed(kept[29], ".803621042100")
    assert printed(kept[34], ".0745265641607")


@pytest.mark.parametrize(("head_dim", "factor", "counts"), [(128, 8, (29, 6, 29)), (64, 32, (15, 3, 14))])
def test_llama3_keeps_blends_and_divides_the_published_numbers_of_planes(head_dim, factor, counts):
    plain = rotary(500_000, head_dim).exact
    table = llama3(500_000, head_dim, factor, 8192, 1, 4).exact
    kept = sum(a == w for a, w in zip(table, plain, strict=True))
    divided = sum(a == w / factor for a, w in zip(table, plain, strict=True))
    assert (kept, len(plain) - kept - divided, divided) == counts
    assert llama3(500_000, head_dim, factor, 8192, 1, 4).attention_factor == 1


def test_the_factor_may_be_a_symbol_where_only_planes_are_compared():
    s = sp.Symbol("s", positive=True)
    table = llama3(500_000, 128, s, 8192, 1, 4).exact
    assert table[63] == rotary(500_000, 128).exact[63] / s


# ------------------------------------------------------------ the same rules in floating point


def yarn_in_floats(base, dim, s, first, fast, slow, truncate):
    """The rule as the code of its authors has it, step by step, in doubles."""
    low, high = (dim * math.log(first / (r * 2 * math.pi)) / (2 * math.log(base)) for r in (fast, slow))
    if truncate:
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, dim - 1)
    ramps = (min(max((k - low) / (high - low), 0.0), 1.0) for k in range(dim // 2))
    return [base ** (-2 * k / dim) * (r / s + 1 - r) for k, r in enumerate(ramps)]


def llama3_in_floats(base, dim, s, first, low, high):
    """The rule by wavelengths, case by case, in doubles."""
    found = []
    for w in (base ** (-2 * k / dim) for k in range(dim // 2)):
        wavelength = 2 * math.pi / w
        smooth = (first / wavelength - low) / (high - low)
        blend = (1 - smooth) * w / s + smooth * w
        slow = w / s if wavelength > first / low else blend
        found.append(w if wavelength < first / high else slow)
    return found


@pytest.mark.parametrize("base", [10_000, 500_000, sp.Rational(24691, 2)])
@pytest.mark.parametrize(("dim", "first"), [(8, 1000), (64, 4096), (128, 131072)])
@pytest.mark.parametrize("truncate", [True, False])
def test_the_exact_tables_agree_with_the_rules_in_floating_point(base, dim, first, truncate):
    s, plain = sp.Rational(7, 2), (float(base), dim, 3.5, first)
    exact = [
        yarn(base, dim, s, first, beta_fast=16, beta_slow=sp.Rational(3, 4), truncate=truncate),
        llama3(base, dim, s, first, sp.Rational(1, 2), 5),
    ]
    floats = [yarn_in_floats(*plain, 16, 0.75, truncate), llama3_in_floats(*plain, 0.5, 5)]
    for table, expected in zip(exact, floats, strict=True):
        assert [float(w) for w in table] == pytest.approx(expected, rel=1e-12)


# ------------------------------------------------------------------------------------ refusals

REFUSED = [
    (lambda: yarn(BASE, 4, S, SHORT, ramp="linear"), BadInput, ["ramp is 'linear'", "'paper'"]),
    (lambda: yarn(1, 4, S, SHORT), BadInput, ["rope_theta is 1", "above 1"]),
    (lambda: yarn(BASE, DIM, S, 4), BadInput, ["from plane 0 to plane -3", "beta_fast > beta_slow"]),
    (lambda: yarn(BASE, DIM, S, SHORT, beta_fast=1, beta_slow=32), BadInput, ["from plane 45 to plane 21"]),
    (lambda: yarn(BASE, 4, sp.Symbol("s", positive=True), SHORT), BadInput, ["factor is", "symbols"]),
    (lambda: yarn(BASE, 4, S, SHORT, beta_fast=0), BadInput, ["beta_fast is 0"]),
    (lambda: yarn(BASE, 4, 0, SHORT), BadInput, ["factor is 0"]),
    (lambda: yarn_attention(40, sp.Rational(1, 2)), BadInput, ["mscale is 1/2", "Hugging Face", "DeepSeek"]),
    (lambda: yarn_attention(40, None, 1), BadInput, ["mscale_all_dim is 1", "give both"]),
    (lambda: yarn_attention(40, 0, 1), BadInput, ["mscale is 0", "give both"]),
    (lambda: llama3(500_000, 4, 8, 8192, 5, 4), BadInput, ["low_freq_factor is 5", "high_freq_factor is 4"]),
    (lambda: llama3(500_000, 4, 8, 0, 1, 4), BadInput, ["original_max_position_embeddings is 0"]),
]


def test_a_ramp_of_width_zero_is_a_step():
    """Llama 4 Scout has low = high = 1: planes of more than one turn within L0 are kept, others divided."""
    plain, stepped = rotary(500_000, 128).exact, llama3(500_000, 128, 16, 8192, 1, 1).exact
    for w, got in zip(plain, stepped, strict=True):
        assert got == (w if 8192 * float(w) > 2 * math.pi else w / 16)


@pytest.mark.parametrize(("call", "error", "words"), REFUSED)
def test_a_refusal_names_the_argument_and_what_would_work(call, error, words):
    with pytest.raises(error) as caught:
        call()
    assert isinstance(caught.value, ExptxError)
    assert all(word in str(caught.value) for word in words), str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("truncate", [True, False])
def test_a_ramp_without_width_is_a_step(truncate):
    """With beta_fast = beta_slow, low = high = 4 ln(16/π)/ln 100 = 1.414: planes below are kept."""
    low, high = yarn_range(100, 8, 64, 2, 2, False)
    assert low == high
    assert abs(float(low) - 4 * math.log(16 / math.pi) / math.log(100)) < 1e-12
    assert yarn_kept(100, 8, 64, 2, 2, truncate) == (1, 1, 0, 0)
