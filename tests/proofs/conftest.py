"""All proofs, once a test process: many tests read them."""

from __future__ import annotations

import pytest
from exptx.proofs import prove


@pytest.fixture(scope="session")
def proofs():
    return prove()


@pytest.fixture(scope="session")
def by_id(proofs):
    return {proof.id: proof for proof in proofs}
