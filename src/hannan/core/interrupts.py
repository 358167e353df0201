"""Ctrl-C takes effect between the calls of a learner, never in the middle of one.

A call that stops half-way leaves a learner that has counted a round and not learned it. So Ctrl-C
waits for the end of the call that is under way; pressed again, it does not wait. Whether one is
under way is read off the stack, and only when Ctrl-C is pressed: calls need not announce it.

Only Python's own handler of the signal is replaced, when a round begins; one that a program has set
is left alone.
"""

from __future__ import annotations

import inspect
import threading

# `signal` translates numbers to names and back, which takes longer than all else here.
from _signal import (  # type: ignore[import-not-found]
    SIGINT,
    default_int_handler,
    getsignal,
    signal,
)
from collections.abc import Callable
from sys import _current_frames as frames_of_threads  # documented, in spite of its name
from types import CodeType, FrameType
from typing import Any, TypeVar

__all__ = ["SIGINT", "default_int_handler", "getsignal", "interrupts"]

_Call = TypeVar("_Call", bound=Callable[..., Any])


class Interrupts:
    """Ctrl-C, where it waits for the end of a call."""

    def __init__(self) -> None:
        self.waiting = False
        self._calls: set[CodeType] = set()

    def whole(self, call: _Call) -> _Call:
        """A method that runs to its end. It must look at `waiting` then, and `deliver`."""
        self._calls.add(call.__code__)  # type: ignore[attr-defined]
        return call

    def expect(self) -> None:
        """From now on Ctrl-C waits; in the main thread, which alone gets signals."""
        if getsignal(SIGINT) is default_int_handler and _in_main_thread():
            signal(SIGINT, self._pressed)

    def deliver(self) -> None:
        """At the end of a call: raise what has waited, unless this one was part of another."""
        if not self.waiting or not _in_main_thread():
            return
        here = inspect.currentframe()
        call = None if here is None else here.f_back
        if not self._under_way(None if call is None else call.f_back):
            self.waiting = False
            raise KeyboardInterrupt

    def elsewhere(self, owner: object) -> bool:
        """Whether another thread is in the middle of such a call of this object."""
        here = threading.get_ident()
        for thread, inmost in frames_of_threads().items():
            frame: FrameType | None = inmost
            while frame is not None and thread != here:
                if frame.f_code in self._calls and frame.f_locals.get("self") is owner:
                    return True
                frame = frame.f_back
        return False

    def _pressed(self, number: int, frame: FrameType | None) -> None:
        if not self.waiting and self._under_way(frame):
            self.waiting = True
            return
        self.waiting = False
        default_int_handler(number, frame)

    def _under_way(self, frame: FrameType | None) -> bool:
        while frame is not None:
            if frame.f_code in self._calls:
                return True
            frame = frame.f_back
        return False


def _in_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


interrupts = Interrupts()
