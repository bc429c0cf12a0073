"""Files that are no config are refused in one sentence; those that are one are read as they are."""

import json

import pytest
from exptx.proofs.errors import BadFile, UnknownPath
from exptx.proofs.inspection.config_file import MAX_BYTES, read_config_file


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is no JSON text"),
        ("{", "is no JSON text"),
        ("[1, 2]", "holds a list; a config is an object"),
        ("3", "holds a int"),
        ("[" * 100_000, "nested too deeply"),
        ('{"a":' * 500 + "1" + "}" * 500, "nested more than 100 deep"),
        ('{"rope_theta": 1, "rope_theta": 2}', "has the key 'rope_theta' twice"),
        ('{"rope_theta": ' + "1" * 5000 + "}", "is no JSON text"),
        ("\x00\x01", "is no JSON text"),
        (" " * (MAX_BYTES + 1), f"more than {MAX_BYTES} bytes"),
    ],
)
def test_what_is_no_config_is_refused_in_one_sentence(text, words, tmp_path):
    path = tmp_path / "config.json"
    path.write_text(text)
    with pytest.raises(BadFile, match=words) as caught:
        read_config_file(path)
    assert "\n" not in str(caught.value)


def test_bytes_that_are_no_text_are_refused(tmp_path):
    path = tmp_path / "config.json"
    path.write_bytes(b"\xff\xfe\xfa{}")
    with pytest.raises(BadFile, match="no JSON text"):
        read_config_file(path)


def test_a_missing_file_and_a_folder_are_told_apart(tmp_path):
    with pytest.raises(UnknownPath, match="does not exist"):
        read_config_file(tmp_path / "config.json")
    with pytest.raises(BadFile, match="no ordinary file"):
        read_config_file(tmp_path)
    (tmp_path / "config.json").write_text('{"model_type": "llama"}')
    assert read_config_file(tmp_path) == {"model_type": "llama"}


def test_infinity_passes_where_no_position_depends_on_it(tmp_path):
    path = tmp_path / "config.json"
    path.write_text('{"time_step_limit": [0.0, Infinity]}')  # as configs of Mamba 2 have it
    assert read_config_file(path)["time_step_limit"][1] == float("inf")
    assert json.loads(path.read_text()) == read_config_file(path)
