"""Half-lives and periods: closed forms for canonical blocks, enclosures that agree with numerical roots."""

import pytest
import sympy as sp
from exptx.symbolic.block import Block
from exptx.symbolic.generator import Generator
from exptx.symbolic.spectral.companion import CompanionBlock
from exptx.symbolic.spectral.tempo import Tempo, tempo

x = sp.Symbol("x")


def test_canonical_blocks_have_exact_tempos():
    assert tempo(Block(sp.Rational(1, 10), 3)) == Tempo(10 * sp.log(2), 2 * sp.pi / 3, 2 * sp.pi / 3)
    assert tempo(Block(0, 3)) == Tempo(None, 2 * sp.pi / 3, 2 * sp.pi / 3)
    assert tempo(Block(-1)) == Tempo(None, None, None)


@pytest.mark.parametrize(
    "factor", [x**3 + 3 * x**2 + 3 * x + 3, x**4 + 10 * x**2 + 1, x**4 + x**3 + 4 * x**2 + 2 * x + 3]
)
def test_companion_blocks_enclose_theirs(factor):
    found = tempo(CompanionBlock(sp.Poly(factor, x, domain="QQ")))
    roots = sp.Poly(factor, x).nroots(n=40)
    periods = sorted(2 * sp.pi.n(40) / sp.im(z) for z in roots if sp.im(z) > 1e-30)
    for enclosure, value in ((found.fastest_period, periods[0]), (found.slowest_period, periods[-1])):
        assert abs(enclosure.lower / value - 1) < 1e-18
        assert enclosure.lower < value < enclosure.upper
    slowest = min(-sp.re(z) for z in roots)
    assert (found.half_life is not None) is bool(slowest > 1e-30)
    if found.half_life:
        assert found.half_life.lower < sp.log(2).n(40) / slowest < found.half_life.upper


def test_real_eigenvalues_have_no_period():
    assert tempo(CompanionBlock(sp.Poly(x**3 - 3 * x + 1, x, domain="QQ"))).slowest_period is None


def test_a_generator_lists_the_tempo_of_every_block():
    generator = Generator.direct_sum(Block(1), Block(0, 2))
    assert generator.tempos() == (Tempo(sp.log(2), None, None), Tempo(None, sp.pi, sp.pi))
