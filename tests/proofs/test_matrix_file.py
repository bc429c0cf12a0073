"""Files of strangers: exact matrices are read, everything else is one sentence, soon and in little memory."""

from __future__ import annotations

import io
import json
import time
import tracemalloc
from contextlib import suppress

import numpy as np
import pytest
import sympy as sp
from exptx.proofs.errors import BadFile, ProofsError, UnknownPath
from exptx.proofs.matrix_file import read_matrix_file
from hypothesis import given
from hypothesis import strategies as st

WHOLE = np.array([[6, -15], [3, -6], [0, 7]])


def npy(array, **options):
    file = io.BytesIO()
    np.save(file, array, **options)
    return file.getvalue()


def forged(header: bytes, body: bytes = b"", version: bytes = b"\x01\x00"):
    return b"\x93NUMPY" + version + len(header).to_bytes(2, "little") + header + body


def described(descr="<i8", order=False, shape=(1, 1), body=b"\0" * 8):
    return forged(f"{{'descr': {descr!r}, 'fortran_order': {order}, 'shape': {shape}, }}\n".encode(), body)


@pytest.mark.parametrize("kind", ["i1", "<i2", ">i4", "<i8", ">u2"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_whole_numbers_of_every_width_order_and_byte_order_are_read(kind, order, tmp_path):
    array = np.asarray(abs(WHOLE) if "u" in kind else WHOLE, dtype=kind, order=order)
    path = tmp_path / "m.npy"
    np.save(path, array)
    assert read_matrix_file(path) == sp.ImmutableMatrix(array.astype(int).tolist())


def test_the_largest_integers_stay_exact(tmp_path):
    path = tmp_path / "m.npy"
    np.save(path, np.array([[2**64 - 1]], dtype="u8"))
    assert read_matrix_file(path)[0] == 2**64 - 1


def test_json_holds_exact_numbers_and_formulas(tmp_path):
    path = tmp_path / "m.json"
    path.write_text('[[0, "-0.1"], ["sqrt(2)", 123456789012345678901234567890], ["2*omega", -3]]')
    omega = sp.Symbol("omega", real=True)
    expected = [[0, sp.Rational(-1, 10)], [sp.sqrt(2), 123456789012345678901234567890], [2 * omega, -3]]
    assert read_matrix_file(path) == sp.ImmutableMatrix(expected)


class Bomb:
    def __reduce__(self):
        return (pytest.fail, ("a pickle was run",))


REFUSED_NPY = {
    "empty": (b"", "does not begin like"),
    "another format": (b"PK\x03\x04" + b"\0" * 100, "does not begin like"),
    "version 9": (forged(b"{}", version=b"\x09\x00"), "does not begin like"),
    "header beyond the end": (b"\x93NUMPY\x01\x00\xff\x0f{", "more than there are"),
    "header of gigabytes": (b"\x93NUMPY\x02\x00\xff\xff\xff\xff{", "more than there are"),
    "header that is code": (forged(b"__import__('os').system('true')\n"), "numpy.save does not write"),
    "header of brackets": (forged(b"(" * 4000), "numpy.save does not write"),
    "header with more keys": (
        forged(b"{'descr': '<i8', 'fortran_order': False, 'shape': (1, 1), 'x': 1, }\n", b"\0" * 8),
        "numpy.save does not write",
    ),
    "structured": (npy(np.zeros((2, 2), dtype=[("a", "i4")])), "numpy.save does not write"),
    "negative shape": (described(shape="(-1, 1)"), "numpy.save does not write"),
    "huge shape": (described(shape=(10**12, 10**12)), "of shape 1000000000000 by 1000000000000"),
    "shape that overflows": (described(shape=(2**63, 2)), "of shape 9223372036854775808 by 2"),
    "empty shape": (described(shape=(0, 4)), "of shape 0 by 4"),
    "a vector": (npy(np.arange(3)), "of shape 3;"),
    "a number": (npy(np.int64(3)), "of shape ();"),
    "a stack": (npy(np.zeros((2, 2, 2), dtype=int)), "of shape 2 by 2 by 2"),
    "cut short": (npy(WHOLE)[:-1], "cut short"),
    "too long": (npy(WHOLE) + b"\0", "cut short or changed"),
    "objects": (npy(np.array([[Bomb()]]), allow_pickle=True), "never unpickled"),
    "objects declared only": (described(descr="|O"), "never unpickled"),
    "floats": (npy(np.array([[0.5]])), "float64 numbers, which are rounded"),
    "not a number": (npy(np.array([[np.nan]])), "float64 numbers, which are rounded"),
    "complex": (npy(np.array([[1j]])), "complex128 numbers"),
    "truth values": (npy(np.array([[True]])), "of type bool"),
    "strings": (npy(np.array([["x"]])), "of type <U1"),
    "dates": (npy(np.array([["2020-01-01"]], dtype="M8[D]")), "numpy.save does not write"),
    "no such type": (described(descr="<i9"), "unknown type"),
    "numbers with leading zeros": (described(shape="(01, 1)"), "numpy.save does not write"),
    "five megabytes": (npy(np.zeros((800, 800), dtype=int)), "more than 4000000 bytes"),
}
REFUSED_JSON = {
    "empty": ("", "is no JSON text"),
    "cut short": ("[[1, 2], [3", "is no JSON text"),
    "not text": (b"\xff\xfe\x00", "is no JSON text"),
    "ten thousand deep": ("[" * 10_000, "is no JSON text"),
    "an object": ('{"a": 1}', "a list of rows"),
    "a list": ("[1, 2]", "a list of rows"),
    "no rows": ("[]", "of shape 0"),
    "empty rows": ("[[], []]", "of shape 2 by 0"),
    "ragged": ("[[1, 2], [3]]", "rows of 1 and of 2 entries"),
    "too many rows": (json.dumps([[0]] * 129), "of shape 129 by 1"),
    "a float": ("[[0.25]]", 'contains the float 0.25; write it exactly, in quotes: "0.25"'),
    "a float with exponent": ("[[1e-3]]", "contains the float 1e-3; write it exactly"),
    "not a number": ("[[NaN]]", "contains NaN; only finite"),
    "infinite": ("[[-Infinity]]", "contains -Infinity; only finite"),
    "a truth value": ("[[true]]", "has true in entry (0, 0)"),
    "null": ("[[0, null]]", "has null in entry (0, 1)"),
    "nested": ("[[[1]]]", "has [1] in entry (0, 0)"),
    "a million digits": ("[[" + "9" * 10**6 + "]]", "at most 20000 are read"),
    "five thousand digits": ("[[" + "9" * 5000 + "]]", "at most 1000 are read"),
    "code": ("""[["__import__('os')"]]""", "entry (0, 0), column 1"),
    "a tower": ('[["9**9**9**9"]]', "more than 14000 bits"),
    "a matrix as entry": ('[["[[1]]"]]', "a matrix in entry (0, 0)"),
}
REFUSED = [
    *(("m.npy", name, *case) for name, case in REFUSED_NPY.items()),
    *(("m.json", name, *case) for name, case in REFUSED_JSON.items()),
    ("m.txt", "another ending", "[[1]]", "ends in .txt"),
    ("m", "no ending", "[[1]]", "ends in nothing"),
]


@pytest.mark.parametrize(("file", "name", "data", "part"), REFUSED, ids=[f"{f} {n}" for f, n, *_ in REFUSED])
def test_anything_else_is_refused_in_one_sentence_soon_and_in_little_memory(file, name, data, part, tmp_path):
    path = tmp_path / file
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    tracemalloc.start()
    began = time.process_time()
    with pytest.raises(BadFile) as caught:
        read_matrix_file(path)
    seconds, (_, peak) = time.process_time() - began, tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert part in str(caught.value)
    assert len(str(caught.value).replace(str(path), "")) < 400
    assert seconds < 2
    assert peak < 50e6


def test_what_is_no_file_is_refused(tmp_path):
    with pytest.raises(UnknownPath, match="does not exist"):
        read_matrix_file(tmp_path / "m.npy")
    (tmp_path / "folder.json").mkdir()
    with pytest.raises(BadFile, match="no ordinary file"):
        read_matrix_file(tmp_path / "folder.json")


@given(data=st.data())
def test_a_changed_file_is_read_or_refused(data, tmp_path_factory):
    good = data.draw(st.sampled_from([npy(WHOLE), json.dumps(WHOLE.tolist()).encode()]))
    place = data.draw(st.integers(0, len(good) - 1))
    changed = good[:place] + data.draw(st.binary(max_size=3)) + good[place + data.draw(st.integers(0, 3)) :]
    path = tmp_path_factory.mktemp("m") / ("m.npy" if good.startswith(b"\x93") else "m.json")
    path.write_bytes(changed)
    with suppress(ProofsError):
        assert read_matrix_file(path).rows >= 1
