"""The document of `exptx inspect` holds facts that written formulas give."""

from math import pi

import pytest
from exptx.proofs.inspection.document import document
from exptx.symbolic import BadInput
from exptx.symbolic.configs.read import read_config

PLAIN = {"model_type": "llama", "head_dim": 128, "num_hidden_layers": 2, "rope_theta": 10000.0}


def group(context=4096, **more):
    (found,) = document(read_config({**PLAIN, "max_position_embeddings": 4096, **more}), context)["groups"]
    return found


def test_periods_are_those_of_the_base():
    """The slowest period of head_dim 128 and base 10000 is 54410.1431 positions (mpmath)."""
    found = group()
    assert found["periods"][0] == pytest.approx(2 * pi)
    assert found["periods"][-1] == pytest.approx(54410.14313077675)


@pytest.mark.parametrize("context", [1, 6, 7, 4096, 54410, 54411])
def test_planes_that_never_complete_a_turn_have_longer_periods_than_the_text(context):
    found = group(context)
    assert found["short_in_context"] == [k for k, p in enumerate(found["periods"]) if p > context]


def test_a_window_bounds_the_gaps_that_count():
    near, far = group(sliding_window=512, layer_types=["sliding_attention"] * 2), group(512)
    assert near["reach"] == 512
    assert near["short_in_context"] == far["short_in_context"]


def test_a_length_is_needed_from_somewhere():
    with pytest.raises(BadInput, match="give --context"):
        document(read_config(PLAIN))
