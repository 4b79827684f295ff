"""Branches that stand where the lifecycle table says."""

from __future__ import annotations

import pytest

from tests.lifecycle.standing import Life


@pytest.fixture
def life(store, clock) -> Life:
    return Life(store, clock)
