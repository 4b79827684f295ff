"""Who holds a lease, and when another process may say that it is dead."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from msgspec.structs import replace

from nodestep.stores.owner import Owner, known_dead, this_process

linux = pytest.mark.skipif(this_process(30_000).started is None, reason="this platform tells no start times")


@pytest.fixture
def me() -> Owner:
    return this_process(30_000)


@pytest.fixture
def child():
    """A process that waits for the end of its input."""
    with subprocess.Popen(
        [sys.executable, "-c", "input()"], stdin=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        yield process
        if process.poll() is None:
            process.kill()


def test_an_owner_reads_back_from_its_stored_form(me: Owner):
    assert Owner.from_json(me.to_json()) == me
    bare = Owner(7, None, None, None, 1)
    assert Owner.from_json(bare.to_json()) == bare


@pytest.mark.parametrize(
    "text", ["", "null", "[]", "[1,2,3,4,5]", "[1,null,null,null]", '["1",null,null,null,1]', "{", '{"a":1}']
)
def test_any_other_text_is_no_owner(text: str):
    with pytest.raises(ValueError, match=r"owner|JSON"):
        Owner.from_json(text)


def test_the_own_process_is_alive(me: Owner):
    assert me.pid == os.getpid()
    assert not known_dead(me, me)


@linux
def test_another_process_is_alive_until_it_ends(me: Owner, child):
    other = replace(me, pid=child.pid, started=_started(child.pid))
    assert not known_dead(other, me)
    child.kill()
    child.wait()
    assert known_dead(other, me)


@linux
def test_a_zombie_is_dead(me: Owner, child):
    other = replace(me, pid=child.pid, started=_started(child.pid))
    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert known_dead(other, me)


@linux
def test_a_process_id_that_was_given_again_is_another_process(me: Owner):
    assert me.started is not None
    assert known_dead(replace(me, started=me.started - 1), me)


@linux
def test_an_owner_from_before_the_last_boot_is_dead(me: Owner):
    assert known_dead(replace(me, boot="another boot"), me)


@linux
def test_an_owner_in_another_namespace_is_not_known_to_be_dead(me: Owner):
    assert not known_dead(replace(me, pid=2**22 + 1, namespace=1), me)


def test_without_what_the_platform_tells_nobody_is_known_to_be_dead(me: Owner):
    unknown = Owner(2**22 + 1, None, None, None, 1)
    assert not known_dead(unknown, me)
    assert not known_dead(replace(me, pid=2**22 + 1), unknown)
    assert not known_dead(unknown, unknown)


def _started(pid: int) -> int:
    with open(f"/proc/{pid}/stat", "rb") as stat:
        return int(stat.read().rpartition(b")")[2].split()[19])
