"""The page of an examination: one file with verdicts, findings and pictures, also of what is refused."""

from __future__ import annotations

import torch
from exptx.proofs import Claims, check, rope
from exptx.proofs.doctor.isolated import document
from exptx.proofs.doctor.page import page, write_page

W = 10000.0 ** (-torch.arange(0, 16, 2) / 16)


def rotate(x, position_ids):
    angle = position_ids[:, None, :, None] * W
    x0, x1 = x.chunk(2, -1)
    return torch.cat((x0 * angle.cos() - x1 * angle.sin(), x0 * angle.sin() + x1 * angle.cos()), -1)


def refuses(x, position_ids):
    raise ValueError("<not & here>")


def test_a_page_shows_verdict_finding_and_both_pictures(tmp_path):
    found = document(check(rotate, Claims(rope(500000.0, 16), 16)))
    write_page(["rope.py:rotate"], [found], tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text()
    for words in ("1 finding", "base 10000", "value:", "largest residual", "Frequencies of 8 planes"):
        assert words in text
    assert text.count("<svg") == 2
    assert "<script" not in text


def test_what_a_subject_says_is_escaped_and_several_share_a_page():
    both = [document(check(f, Claims(head_dim=16))) for f in (rotate, refuses)]
    text = page(["a", "b"], both)
    assert "2 examined, 1 with findings" in text
    assert "&lt;not &amp; here&gt;" in text
    assert "<not" not in text
