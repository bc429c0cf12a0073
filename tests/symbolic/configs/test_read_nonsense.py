"""Published configs with a value exchanged for junk: they are read, or refused in one short sentence."""

import json
from pathlib import Path

from exptx.symbolic.configs.description import Rotary
from exptx.symbolic.configs.read import read_config
from exptx.symbolic.errors import ExptxError
from hypothesis import given, settings
from hypothesis import strategies as st

FILES = sorted((Path(__file__).resolve().parents[2] / "configs").glob("*.json"))
JUNK = st.sampled_from(
    [None, True, -1, 0, 3, 0.5, "x", "1e4", "yarn", "longrope", [], {}, [1, 2], {"a": 1}, float("nan"),
     float("inf"), 10**30, 10**400, 1e-320, 1e308, {"full_attention": {}}, {"rope_type": "yarn"}]
)  # fmt: skip


def mappings(config):
    yield config
    for value in config.values():
        if isinstance(value, dict):
            yield from mappings(value)


def refusal(config):
    """What is said against it, or nothing."""
    try:
        for group in read_config(config).groups:
            if isinstance(group.encoding, Rotary):
                group.encoding.frequencies(9)
    except ExptxError as error:
        return str(error)
    return ""


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(FILES), st.data(), JUNK)
def test_junk_is_read_or_refused_in_a_sentence(file, data, junk):
    config = json.loads(file.read_text())
    place = data.draw(st.sampled_from(list(mappings(config))))
    place[data.draw(st.sampled_from(sorted(place)))] = junk
    said = refusal(config)
    assert "\n" not in said
    assert len(said) < 600
