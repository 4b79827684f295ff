"""What a fork, or another thread, must never find taken."""

from __future__ import annotations

import threading

from nodestep.model.locks import cached_property


def test_a_property_can_be_found_while_another_thread_finds_one():
    begun, ended = threading.Event(), threading.Event()

    class Slow:
        def __init__(self, *, waits: bool) -> None:
            self.waits = waits

        @cached_property
        def found(self) -> bool:
            if not self.waits:
                return True
            begun.set()
            return ended.wait(5)

    first = Slow(waits=True)
    finding = threading.Thread(target=lambda: first.found)
    finding.start()
    assert begun.wait(5)
    assert Slow(waits=False).found
    ended.set()
    finding.join()

    assert first.found
