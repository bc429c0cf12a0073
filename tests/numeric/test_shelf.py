"""Tables that modules share: the same numbers are formed once, other numbers never taken for them."""

import copy
import gc
import pickle
import threading

import pytest
import torch
from exptx.numeric import PositionOutOfRange, RotaryEmbedding, rotary_embedding, rotary_table, shelf
from exptx.symbolic import frequencies
from exptx.symbolic.scaling import dynamic, longrope

F = frequencies(500_000, 16)
IDS = torch.arange(5)
Q, K = torch.randn(2, 1, 2, 5, 16, generator=torch.Generator().manual_seed(0)).unbind(0)


@pytest.fixture
def formed(monkeypatch):
    """The dtypes of the tables formed since."""
    tables, found = RotaryEmbedding.tables, []

    def counted(self, *given, **options):
        found.append(options["dtype"])
        return tables(self, *given, **options)

    monkeypatch.setattr(RotaryEmbedding, "tables", counted)
    return found


def test_layers_with_a_module_each_form_one_table(formed):
    layers = [RotaryEmbedding(F) for _ in range(4)]
    results = [layer(Q, K, IDS + 1000) for layer in layers]
    assert len(formed) == 1
    known = rotary_table(F, IDS + 1000)
    for layer, (q, _) in zip(layers, results, strict=True):
        assert torch.equal(q, results[0][0])
        assert torch.equal(layer.tables(IDS + 1000, dtype=torch.float32)[0], known[0])


def test_sliding_and_full_layers_in_turn_form_a_table_each(formed):
    kinds = [frequencies(10_000, 16), F]
    layers = [RotaryEmbedding(kinds[n % 2]) for n in range(6)]
    results = [layer(Q, K, IDS + 1000)[0] for layer in layers]
    assert len(formed) == 2
    assert not torch.equal(results[0], results[1])
    assert all(torch.equal(results[n], results[n % 2]) for n in range(6))


def test_pairings_and_layouts_share_and_angles_do_not(formed):
    modules = [RotaryEmbedding(F), RotaryEmbedding(F, interleaved=True), RotaryEmbedding(F, layout="bthd")]
    modules[0](Q, K, IDS + 7)
    modules[1](Q, K, IDS + 7)
    modules[2](Q.transpose(1, 2), K.transpose(1, 2), IDS + 7)
    assert len(formed) == 1
    exact = modules[0](Q, K, IDS + 100_007)[0]
    assert not torch.equal(RotaryEmbedding(F, angles="hf")(Q, K, IDS + 100_007)[0], exact)


def test_two_amplitudes_have_two_tables(formed):
    one, two = RotaryEmbedding(F), RotaryEmbedding(F, attention_scaling=2.0)
    assert torch.equal(2 * one(Q, K, IDS)[0], two(Q, K, IDS)[0])
    assert len(formed) == 2


def test_frequencies_that_differ_in_the_last_bit_share_nothing(formed):
    waves = torch.tensor([float(w) for w in F], dtype=torch.float64)
    near = torch.nextafter(waves, waves + 1)
    modules = [RotaryEmbedding(x) for x in (waves, near, waves.reshape(1, 8), waves.float())]
    for module in modules[:2]:
        module(Q, K, IDS)
    modules[2](Q, K, IDS[None, None])
    modules[3](Q, K, IDS)
    assert len(formed) == 4


def test_a_shelf_goes_with_its_last_module():
    before = len(shelf._SHELVES)
    module, other = RotaryEmbedding(torch.rand(8)), RotaryEmbedding(torch.rand(8))
    for one in (module, other):
        one(Q, K, IDS)
    assert len(shelf._SHELVES) == before + 2
    del module, one
    gc.collect()
    assert len(shelf._SHELVES) == before + 1
    del other
    gc.collect()
    assert len(shelf._SHELVES) == before


def test_copies_and_pickles_share_again(formed):
    module = RotaryEmbedding(F)
    module(Q, K, IDS + 99)
    for other in (copy.deepcopy(module), pickle.loads(pickle.dumps(module))):
        assert torch.equal(other(Q, K, IDS + 99)[0], module(Q, K, IDS + 99)[0])
    assert len(formed) == 1


def test_a_shelf_keeps_few_tables():
    module = RotaryEmbedding(F)
    for n in range(50):
        module.attention_scaling = 1.0 + n
        module(Q, K, IDS)
    assert len(module._shelf._kept) <= shelf._KINDS


def test_threads_get_the_tables_of_their_own_positions():
    modules, wrong = [RotaryEmbedding(F) for _ in range(4)], []

    def run(number):
        for step in range(100):
            ids = IDS + 1000 * number + step
            known = rotary_embedding(Q, *rotary_table(F, ids))
            if not torch.equal(modules[number](Q, K, ids)[0], known):
                wrong.append((number, step))

    threads = [threading.Thread(target=run, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


# ---- frequencies that follow the length ----

PARAMETERS = {
    "rope_type": "longrope",
    "rope_theta": 10_000,
    "short_factor": [1] * 8,
    "long_factor": [1, 1, 2, 4, 8, 16, 32, 32],
    "original_max_position_embeddings": 64,
    "factor": 4,
}


def test_short_factors_are_refused_from_the_original_length_on_and_long_ones_are_not():
    short, long = (frequencies(PARAMETERS, 16, seq_len=n) for n in (64, 65))
    rotate = RotaryEmbedding(short)
    assert torch.equal(rotate.tables(64)[0], rotary_table(short, torch.arange(64))[0])
    for table in (rotate.tables, lambda n: rotary_table(short, torch.arange(n))):
        with pytest.raises(PositionOutOfRange, match="position_ids contains 64, but these frequencies hold"):
            table(65)
    with pytest.raises(PositionOutOfRange, match=r"at most 64 tokens; form .* carry cached keys over with"):
        rotate(Q, K, IDS + 60)
    assert RotaryEmbedding(long).tables(100)[0].shape == (100, 8)
    assert long == longrope(10_000, 16, PARAMETERS["long_factor"], long.attention_factor)


def test_a_dynamic_table_serves_the_length_it_was_made_for_and_shorter_ones():
    for made_for, longest in ((1, 64), (64, 64), (100, 100)):
        waves = dynamic(10_000, 16, 2, 64, made_for)
        assert waves.longest == longest
        assert len(RotaryEmbedding(waves).tables(longest)[0]) == longest
        with pytest.raises(PositionOutOfRange):
            RotaryEmbedding(waves).tables(longest + 1)
    assert frequencies(10_000, 16).longest is None
