"""How many kinds of generators there are, and why eigenvalues alone do not name them."""

import sympy as sp

from ...symbolic.decide import Status
from ..law import Hypothesis, Law
from ..step import Cited, Determinant, Identity, Source
from .common import N, Parts, product, times
from .complete_list import CHAPTER

ANALYTIC = Source(
    "P. Flajolet, R. Sedgewick, Analytic Combinatorics, Cambridge University Press 2009, section I.2.2 "
    "(multisets, the Euler transform)"
)
PARTITIONS = (1, 2, 3, 5, 7, 11, 15, 22)
KINDS = (1, 4, 7, 20, 36, 87, 162, 355)


def clusters() -> tuple[int, ...]:
    """Ways in which one eigenvalue, or one pair, fills n dimensions: partitions of n, or of n/2."""
    return tuple(p + (PARTITIONS[k // 2] if k % 2 else 0) for k, p in enumerate(PARTITIONS))


@CHAPTER.law("how-many-kinds")
def how_many_kinds() -> Law:
    steps, breakers = _how_many_kinds()
    return Law(
        id="how-many-kinds",
        title="1, 4, 7, 20, 36, 87, 162, 355 kinds",
        statement=(
            "Call two generators of size `d` of one kind if their blocks differ only by the values of the "
            "eigenvalues: so many real ones and so many pairs, each with its block sizes. One eigenvalue "
            "fills `k` dimensions in `p(k)` ways, a pair in `p(k/2)`; the numbers `a_d` of multisets of "
            "these are `1, 4, 7, 20, 36, 87, 162, 355` for `d = 1, …, 8`."
        ),
        hypotheses=(Hypothesis("multisets", "clusters are counted with repetition and without order"),),
        steps=steps,
        perturbations=breakers,
        rests_on=("complete-list",),
        comment=(
            "For `d = 2`: two different real eigenvalues, one twice with one block or with two, a pair. The "
            "signs of the rates, which decide the fate, are not counted: a kind is what a basis and the "
            "values of eigenvalues cannot change."
        ),
    )


def _how_many_kinds() -> Parts:
    """Steps and perturbations of the law."""
    size = len(KINDS)
    divisors = sp.ImmutableMatrix(size, size, lambda i, j: (j + 1) * int((i + 1) % (j + 1) == 0))
    weights = divisors * sp.Matrix(clusters())
    before = sp.ImmutableMatrix(size, size, lambda i, j: (1, *KINDS)[int(i - j)] if i >= j else 0)
    sums = Identity(
        name="c_n = Σ over the divisors k of n of k·(clusters of k dimensions)",
        goal=True,
        lhs=product(divisors, sp.ImmutableMatrix(clusters())),
        rhs=weights.as_immutable(),
    )
    goal = Identity(
        name="n a_n = c_1 a_{n-1} + … + c_n a_0 for n = 1, …, 8",
        goal=True,
        lhs=sp.ImmutableMatrix([(k + 1) * a for k, a in enumerate(KINDS)]),
        rhs=product(before, weights),
    )
    partitions = _partitions()
    steps = (
        partitions,
        sums,
        Cited(
            name="how multisets are counted",
            lemma=(
                "multisets of objects, m_k of weight k, number a_n of weight n with n a_n = Σ_{j ≤ n} c_j "
                "a_{n-j}, c_j = Σ_{k | j} k m_k"
            ),
            source=ANALYTIC,
            needs=("multisets",),
        ),
        goal,
    )
    return steps, (
        goal.but(
            "five kinds for d = 2",
            lhs=sp.ImmutableMatrix([(k + 1) * (a + int(k == 1)) for k, a in enumerate(KINDS)]),
        ),
        sums.but("without pairs", lhs=product(divisors, sp.ImmutableMatrix(PARTITIONS))),
        partitions.but("21 partitions of 8", lhs=sp.ImmutableMatrix((*PARTITIONS[:7], 21))),
    )


def _partitions() -> Identity:
    """Euler's recursion p(n) = p(n-1) + p(n-2) - p(n-5) - p(n-7) + …, with p(0) = 1."""
    table = (1, *PARTITIONS)
    signs = {1: 1, 2: 1, 5: -1, 7: -1}
    before = sp.ImmutableMatrix(8, 9, lambda i, j: signs.get(int(i + 1 - j), 0))
    return Identity(
        name="the numbers of partitions, by Euler's recursion",
        goal=True,
        lhs=sp.ImmutableMatrix(PARTITIONS),
        rhs=product(before, sp.ImmutableMatrix(table)),
        note="p(n) = p(n-1) + p(n-2) - p(n-5) - p(n-7), p(0) = 1",
    )


@CHAPTER.law("eigenvalues-not-enough")
def eigenvalues_not_enough() -> Law:
    lam, x, y = sp.symbols("lambda x y", real=True)
    zero = sp.zeros(2, 2).as_immutable()
    same = tuple(
        Determinant(name=name, lhs=(lam * sp.eye(2) - matrix).as_immutable(), rhs=lam**2)
        for name, matrix in (("the polynomial of the zero matrix is λ²", zero), ("and that of the slide", N))
    )
    a, b, c, d = sp.symbols("a b c d", real=True)
    basis, adjugate = sp.ImmutableMatrix([[a, b], [c, d]]), sp.ImmutableMatrix([[d, -b], [-c, a]])
    goal = Identity(
        name="S 0 adj(S) = N det S",
        goal=True,
        lhs=product(basis, zero, adjugate),
        rhs=sp.ImmutableMatrix([[0, times(a, d) - times(b, c)], [0, 0]]),
    )
    upper, vectors = sp.ImmutableMatrix([[x, 1], [0, y]]), sp.ImmutableMatrix([[1, 1], [0, y - x]])
    return Law(
        id="eigenvalues-not-enough",
        title="“Only the eigenvalues survive a change of basis”",
        statement=(
            "The zero matrix and the slide `N = [[0,1],[0,0]]`, both with the polynomial `λ²`, are the same "
            "up to a change of basis: `S 0 S⁻¹ = N` for some `S = [[a, b], [c, d]]`, that is `S 0 adj(S) = N "
            "det S` with `det S = ad - bc` not 0."
        ),
        expected=Status.REFUTED,
        steps=(*same, goal),
        siblings=(
            goal.but(
                (
                    "two different eigenvalues `x, y`: the columns (1, 0), (1, y - x) diagonalise `[[x, 1], "
                    "[0, y]]`"
                ),
                lhs=product(upper, vectors),
                rhs=product(vectors, sp.diag(x, y)),
            ),
        ),
        rests_on=("change-of-basis", "slide-nilpotent"),
        comment=(
            "NoPE and ALiBi have the same eigenvalues. What survives is the eigenvalues and the block sizes, "
            "which the ranks of the powers `(X - λ)^k` tell: exact arithmetic finds them, floats cannot."
        ),
    )
