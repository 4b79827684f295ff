"""Where the nodes of a test note that they ran."""

from __future__ import annotations

import pytest


@pytest.fixture
def ran() -> list[str]:
    return []
