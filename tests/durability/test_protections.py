"""The list of protections stays true: what each switches off is there, and so are the tests that must notice.

`scripts/protections` switches them off.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest

from tests.durability.named_tests import is_there
from tests.durability.protections import PROTECTIONS


def test_there_are_at_least_twelve():
    assert len(PROTECTIONS) >= 12


@pytest.mark.parametrize("name", PROTECTIONS)
def test_what_a_protection_switches_off_is_there(name):
    for patch in PROTECTIONS[name].patches:
        module, _, path = patch.where.partition(":")
        found: Any = import_module(module)
        for part in path.split("."):
            found = getattr(found, part)
        assert callable(patch.make(found))


@pytest.mark.parametrize("name", PROTECTIONS)
def test_the_tests_that_must_notice_are_there(name):
    assert all(is_there(test) for test in PROTECTIONS[name].tests)
