"""Entry by entry: a root is any number where that proves the identity, and itself where it does not."""

import sympy as sp
from exptx.symbolic.entries import Identities
from exptx.symbolic.verdict import Status

t, s = sp.symbols("t s", real=True)
ROOT = sp.sqrt(2)


def test_an_identity_for_all_numbers_holds_for_a_root():
    """An irrational multiple of t is outside what `decide` reads; a free frequency is not."""
    turned = sp.cos(t - s - ROOT), sp.cos(t - ROOT) * sp.cos(s) + sp.sin(t - ROOT) * sp.sin(s)
    assert Identities().decide(*turned).status is Status.PROVED
    assert Identities().decide(sp.cos(ROOT * t) ** 2, 1 - sp.sin(ROOT * t) ** 2).status is Status.PROVED


def test_what_holds_for_the_root_alone_is_decided_with_the_root():
    assert Identities().decide((1 + ROOT) ** 2 * t, (3 + 2 * ROOT) * t).status is Status.PROVED
    assert Identities().decide(ROOT * t, 1 / ROOT * t).status is Status.REFUTED
    assert Identities().decide((1 + ROOT) ** 2 * t, (3 + 2 * ROOT) * t + s).witness.keys() == {t, s}
