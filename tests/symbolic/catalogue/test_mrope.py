"""M-RoPE: golden angles, both layouts of the sections, and text positions that must give rope."""

import pytest
import sympy as sp
from exptx.symbolic import BadInput, WrongType, enclose, encoding

GOLDEN = {
    0: "1",
    15: "0.03924189758484536",
    16: "0.06324555320336759",
    39: "0.0004413468138169180",
    40: "0.0005334838230116768",
    63: "0.000003722813282255159",
}
T = sp.Symbol("t", real=True)


def turned(given, plane, position):
    """cos and sin of the angle between a key of the plane at `position` and a query at the origin."""
    units = [[int(r == i) for r in range(given.head_dim)] for i in (plane, plane + given.head_dim // 2)]
    return tuple(given.score((0, 0, 0), position, q=q, k=units[0]) for q in units)


@pytest.mark.parametrize("plane", GOLDEN)
def test_the_published_angles_at_1_2_3(plane):
    given = encoding("mrope", head_dim=128, sections=(16, 24, 24), rope_theta=1000000)
    cosine, sine = turned(given, plane, (1, 2, 3))
    angle = sine.args[0]
    assert (cosine, sine) == (sp.cos(angle), sp.sin(angle))
    printed = GOLDEN[plane]
    found, places = enclose(angle, 30), len(printed.partition(".")[2])
    assert {sp.floor(end * 10**places + sp.S.Half) for end in (found.lower, found.upper)} == {
        sp.Rational(printed) * 10**places
    }


@pytest.mark.parametrize("layout", ["chunked", "interleaved"])
def test_text_positions_give_rope_on_one_axis_exactly(layout):
    one = encoding("rope", head_dim=12, rope_theta=1000000)
    three = encoding("mrope", head_dim=12, sections=(2, 2, 2), layout=layout)
    assert three.score((T,) * 3, (2, 2, 2)) == one.score(T, 2)


def owners(given):
    return "".join("thw"[next(a for a, x in enumerate(turns) if x)] for turns in given.axes.planes.values())


def test_chunked_sections_are_time_then_height_then_width():
    assert owners(encoding("mrope")) == 16 * "t" + 24 * "h" + 24 * "w"


def test_interleaved_sections_alternate_and_end_with_time():
    assert owners(encoding("mrope", sections=(24, 20, 20), layout="interleaved")) == 20 * "thw" + 4 * "t"


def test_uneven_interleaved_sections_give_the_free_places_to_time():
    given = encoding("mrope", head_dim=16, sections=(5, 2, 1), layout="interleaved")
    assert owners(given) == "thwthttt"


def test_the_layouts_differ_off_the_diagonal():
    a, b = (encoding("mrope", head_dim=12, sections=(2, 2, 2), layout=x) for x in ("chunked", "interleaved"))
    assert turned(a, 1, (1, 2, 3)) != turned(b, 1, (1, 2, 3))


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"sections": (16, 24, 25)}, BadInput, r"sections is \(16, 24, 25\); three numbers that add up to"),
        ({"sections": (40, 24)}, BadInput, "add up to head_dim/2 = 64"),
        ({"sections": (16, 24.0, 24)}, WrongType, r"sections\[1\] is 24.0"),
        ({"sections": 64}, WrongType, "sections is 64; three numbers of planes"),
        ({"layout": "mixed"}, BadInput, "layout is 'mixed'; 'chunked' or 'interleaved' works"),
    ],
)
def test_what_is_no_layout_is_refused(given, error, words):
    with pytest.raises(error, match=words):
        encoding("mrope", **given)
