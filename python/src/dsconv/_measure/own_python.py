"""Times the transforms that a dsconv.Loader runs in Python."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Callable

from dsconv import _python_transforms

from .clock import AUGMENT, Clock, Label, Times
from .costs import listed
from .patches import Patches
from .walk import title


@dataclass
class InPython:
    """What was measured, by name.

    in_loop     of transforms of the user's own, which run in the loop's thread
    on_threads  of those of libraries
    """

    in_loop: dict[str, Times] = field(default_factory=dict)
    on_threads: dict[str, Times] = field(default_factory=dict)

    def parts(self, images: int) -> list[dict[str, Any]]:
        """The parts of the Loader's costs."""
        times = [*self.on_threads.items(), *self.in_loop.items()]
        return [listed(Label(name, AUGMENT), spent, max(1, images), {}) for name, spent in times]

    def seconds(self) -> float:
        """The time that the loop's thread took."""
        return sum(spent.wall for spent in self.in_loop.values()) / 1e9


def runs_python(loader: Any) -> bool:
    """Reports whether loader is a dsconv.Loader with transforms in Python."""
    batches = getattr(loader, "_batches", None)
    return isinstance(getattr(batches, "_transforms", None), _python_transforms.PythonTransforms)


@contextlib.contextmanager
def timed_transforms() -> Iterator[InPython]:
    """Times the transforms of the epochs that this thread iterates. The results do not change."""
    found, clock, lock, patches = InPython(), Clock(), threading.Lock(), Patches()
    view = _python_transforms._View
    in_loop, on_threads = view.in_loop, view.on_threads

    def timed_in_loop(self: Any, image: Any, key: Any) -> Any:
        if not self.rest or not clock.enters(part := clock.part(_label(self.rest)), outermost=True):
            return in_loop(self, image, key)
        try:
            return in_loop(self, image, key)
        finally:
            clock.leave()
            found.in_loop[clock.labels[part].name] = Times(
                clock.calls[part], clock.wall[part], clock.cpu[part], clock.queue[part]
            )

    def timed_on_threads(self: Any, image: Any, key: Any) -> Any:
        wall, cpu = time.perf_counter_ns(), time.thread_time_ns()
        try:
            return on_threads(self, image, key)
        finally:
            spent = Times(1, time.perf_counter_ns() - wall, time.thread_time_ns() - cpu)
            if self._first is not None:
                with lock:
                    found.on_threads.setdefault("transforms in Python", Times()).add(spent)

    clock.start()
    patches.attribute(view, "in_loop", timed_in_loop)
    patches.attribute(view, "on_threads", timed_on_threads)
    try:
        yield found
    finally:
        patches.undo()
        clock.close()


def _label(calls: tuple[Callable[[Any], Any], ...]) -> Label:
    return Label(" + ".join(map(title, calls)), AUGMENT)
