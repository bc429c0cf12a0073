"""Finite tables satisfy exactly the axioms they satisfy; maps between them likewise."""

from itertools import permutations, product
from math import prod
from random import Random

import pytest
from exptx.symbolic.decide import Status
from exptx.symbolic.errors import BadInput, WrongType
from exptx.symbolic.finite import AXIOMS, Finite, Homomorphism

GROUP = {"closure": True, "identity": True, "inverses": True, "associativity": True}
ABELIAN = {**GROUP, "commutativity": True}


def cyclic(n: int, axioms: dict = ABELIAN) -> Finite:
    return Finite.of({str(i): i for i in range(n)}, lambda x, y: (x + y) % n, axioms)


def compose(p: tuple, q: tuple) -> tuple:
    return tuple(p[i] for i in q)


def turns() -> Finite:
    """The square's rotations as shuffles of its corners."""
    corners = {f"r{90 * k}": tuple((i + k) % 4 for i in range(4)) for k in range(4)}
    return Finite.of(corners, compose, ABELIAN)


def shuffles(axioms: dict) -> Finite:
    return Finite.of({"".join(map(str, p)): p for p in permutations(range(3))}, compose, axioms)


def klein() -> Finite:
    pairs = {f"{a}{b}": (a, b) for a, b in product(range(2), repeat=2)}
    return Finite.of(pairs, lambda x, y: ((x[0] + y[0]) % 2, (x[1] + y[1]) % 2), ABELIAN)


@pytest.mark.parametrize(
    "table", [cyclic(12), cyclic(1), turns(), shuffles(GROUP), klein()], ids=lambda t: len(t.table)
)
def test_clocks_rotations_and_shuffles_are_groups(table: Finite) -> None:
    assert table.check().status is Status.PROVED


def test_shuffles_of_three_do_not_commute() -> None:
    assert shuffles({"commutativity": False}).check().status is Status.PROVED
    verdict = shuffles(ABELIAN).check()
    assert (verdict.status, verdict.certificate["axiom"]) == (Status.REFUTED, "commutativity")
    assert "differs" in verdict.reason


def test_an_inverse_on_one_side_only_is_none() -> None:
    """a b = e and b b = e, but b a = a: b undoes a from one side only."""
    rows = [["e", "a", "b"], ["a", "a", "e"], ["b", "a", "e"]]
    assert (
        Finite(["e", "a", "b"], rows, {"identity": True, "inverses": False}).check().status is Status.PROVED
    )


def test_multiplication_on_the_clock_has_no_inverses() -> None:
    table = Finite.of(
        {str(i): i for i in range(6)}, lambda x, y: x * y % 6, {"inverses": False, "identity": True}
    )
    assert table.check().status is Status.PROVED
    assert "0 has no inverse" in Finite(table.elements, table.table, GROUP).check().reason


def test_a_window_of_the_integers_is_not_closed() -> None:
    window = {str(i): i for i in (-1, 0, 1)}

    def check(axioms: dict):
        return Finite.of(window, lambda x, y: x + y, axioms).check()

    assert check(GROUP).reason == "closure is false: -1*-1 = (-2) is not an element"
    assert check(GROUP).certificate == {"axiom": "closure", "elements_witness": ["-1", "-1"]}
    assert check({"closure": False, "inverses": True}).status is Status.PROVED
    assert check({"associativity": True}).status is Status.UNDECIDED


@pytest.mark.parametrize("seed", range(40))
def test_random_tables_satisfy_what_brute_force_says(seed: int) -> None:
    """Every claimed pattern of truth values is proved if and only if it is the true one."""
    rng = Random(seed)
    n = rng.choice([1, 2, 2, 3])
    rows = [[rng.randrange(n) for _ in range(n)] for _ in range(n)]
    if rng.random() < 0.4:
        rows = [[(i + j) % n for j in range(n)] for i in range(n)]
    truth = brute(rows)
    for values in product([True, False], repeat=len(AXIOMS)):
        claim = dict(zip(AXIOMS, values, strict=True))
        verdict = Finite(range(n), rows, claim).check()
        assert (verdict.status is Status.PROVED) == (claim == truth)
        assert verdict.status is not Status.UNDECIDED


def brute(rows: list) -> dict:
    n = range(len(rows))
    units = [e for e in n if all(rows[e][x] == x == rows[x][e] for x in n)]
    inverses = bool(units) and all(any(rows[x][y] == units[0] == rows[y][x] for y in n) for x in n)
    associative = all(rows[rows[x][y]][z] == rows[x][rows[y][z]] for x, y, z in product(n, repeat=3))
    commutes = all(rows[x][y] == rows[y][x] for x, y in product(n, repeat=2))
    return dict(zip(AXIOMS, (True, bool(units), inverses, associative, commutes), strict=True))


def test_the_rotations_of_the_square_are_the_four_hour_clock() -> None:
    claim = {"homomorphism": True, "injective": True, "surjective": True}
    images = ("r0", "r90", "r180", "r270")
    assert Homomorphism(cyclic(4), turns(), images, claim).check().status is Status.PROVED
    wrong = Homomorphism(cyclic(4), turns(), ("r0", "r180", "r90", "r270"), claim).check()
    assert (wrong.status, wrong.certificate["claim"]) == (Status.REFUTED, "homomorphism")


def test_no_bijection_from_the_clock_to_the_klein_group_is_a_homomorphism() -> None:
    elements = klein().elements
    for images in permutations(elements):
        claim = Homomorphism(cyclic(4), klein(), images, {"homomorphism": False, "injective": True})
        assert claim.check().status is Status.PROVED


def test_halving_the_clock_is_a_homomorphism_but_not_injective() -> None:
    images = [str(i % 2) for i in range(6)]
    truth = {"homomorphism": True, "injective": False, "surjective": True}
    assert Homomorphism(cyclic(6), cyclic(2), images, truth).check().status is Status.PROVED
    assert "one image" in Homomorphism(cyclic(6), cyclic(2), images, {"injective": True}).check().reason


def test_the_sign_of_a_shuffle_is_a_homomorphism() -> None:
    group = shuffles(GROUP)
    odd = [prod(1 if p[i] < p[j] else -1 for i in range(3) for j in range(i + 1, 3)) for p in group.elements]
    images = ["0" if sign == 1 else "1" for sign in odd]
    assert Homomorphism(group, cyclic(2), images, {"homomorphism": True}).check().status is Status.PROVED


@pytest.mark.parametrize(
    ("make", "error", "names"),
    [
        (lambda: Finite(["a", "a"], [["a", "a"]] * 2, GROUP), BadInput, "elements"),
        (lambda: Finite([], [], GROUP), BadInput, "elements"),
        (lambda: Finite(["a", "b"], [["a", "b"]], GROUP), BadInput, "2 x 2"),
        (lambda: Finite([0.5], [[0.5]], GROUP), WrongType, "0.5"),
        (lambda: Finite("ab", [["a"]], GROUP), WrongType, "elements"),
        (lambda: Finite(["a"], [["a"]], {"assoc": True}), BadInput, "assoc"),
        (lambda: Finite(["a"], [["a"]], {}), WrongType, "axioms"),
        (lambda: Finite(["a"], [["a"]], {"closure": 1}), WrongType, "closure"),
        (lambda: Homomorphism(cyclic(2), cyclic(2), ["0"], {"injective": True}), BadInput, "images"),
        (lambda: Homomorphism(cyclic(2), cyclic(2), ["0", "7"], {"injective": True}), BadInput, "7"),
    ],
)
def test_bad_input_gets_one_sentence_that_names_it(make, error, names) -> None:
    with pytest.raises(error, match=names):
        make()


def test_the_tree_is_the_claim() -> None:
    assert cyclic(2, {"closure": True}).tree() == {
        "kind": "finite",
        "elements": ["0", "1"],
        "table": [["0", "1"], ["1", "0"]],
        "axioms": {"closure": True},
    }
