"""Times the transforms that a dsconv.Loader runs in Python."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator
from typing import Any, Callable

from dsconv._python_transforms import PythonTransforms, _View

from .clock import AUGMENT, Part, replace
from .walk import title

ON_THREADS = "transforms in Python"  # those of libraries; the user's own run in the loop's thread


def runs_python(loader: Any) -> bool:
    """Reports whether loader is a dsconv.Loader with transforms in Python."""
    return isinstance(getattr(getattr(loader, "_batches", None), "_transforms", None), PythonTransforms)


@contextlib.contextmanager
def timed_transforms() -> Iterator[dict[str, Part]]:
    """Times the transforms while it is open, by their names. The results do not change."""
    found, lock = dict[str, Part](), threading.Lock()

    def timed(method: Callable[..., Any], name_of: Callable[[Any], str]) -> Callable[..., Any]:
        def call(self: Any, image: Any, key: Any) -> Any:
            wall, cpu = time.perf_counter_ns(), time.thread_time_ns()
            try:
                return method(self, image, key)
            finally:
                name, wall, cpu = name_of(self), time.perf_counter_ns() - wall, time.thread_time_ns() - cpu
                with lock:
                    found.setdefault(name, Part(name, AUGMENT)).add(Part(name, AUGMENT, 1, wall, cpu))

        return call

    with contextlib.ExitStack() as undo:
        in_loop = timed(_View.in_loop, lambda view: " + ".join(map(title, view.rest)))
        replace(undo, _View, "in_loop", in_loop)
        on_threads = timed(_View.on_threads, lambda view: "" if view._first is None else ON_THREADS)
        replace(undo, _View, "on_threads", on_threads)
        yield found
        found.pop("", None)  # there was nothing to call
