"""Loops that are left early, and the end of the interpreter."""

from __future__ import annotations

import atexit
import gc
import threading
from collections.abc import Callable
from typing import Any

import dsconv
import numpy as np
from dsconv import _batch_stream
from shared import FEW, digest, expected, files, loader, threads


def exception_in_loop(path: str) -> None:
    train = loader(path)
    want = expected(path, 1)
    try:
        for k, _ in enumerate(train):
            if k == 1:
                raise ZeroDivisionError
    except ZeroDivisionError:
        pass
    assert digest(train) == want


def abandoned(path: str) -> None:
    train = loader(path)
    want = expected(path)
    for _ in range(3):
        list(train)
    idle, opened = threads(), files()
    for _ in range(30):
        for _ in train:
            break
        epoch = iter(train)
        next(epoch)
        del epoch
        iter(train)  # never asked
        thread = threading.Thread(target=lambda: next(iter(train)))
        thread.start()
        thread.join()
        both = [iter(train), iter(train)]
        both.append(both)  # type: ignore[arg-type]  # a cycle, for the collector
        next(both[0])
        del both
    gc.collect()
    assert threads() <= idle + FEW and files() == opened, (idle, threads(), opened, files())
    assert not _batch_stream._in_use  # all that was lent to the library came back
    train.set_epoch(0)
    assert digest(train) == want
    held = iter(train)
    next(held)
    train.close()
    try:
        list(held)
    except dsconv.Error as error:
        assert "closed" in str(error)
    train.set_epoch(0)
    assert digest(train) == want  # it opens again


kept: list[Any] = []


def left_at_exit(path: str) -> None:
    """Leaves iterators in all states at the interpreter's end: in globals, reference cycles and an atexit handler."""
    train = loader(path)
    started, fresh = iter(train), iter(train)
    kept.extend([next(started), started, fresh, train, iter(loader(path)), dsconv.Dataset(path)])
    kept.append(kept)
    atexit.register(lambda: print("batches at exit:", len(list(started))))
    dsconv.kept = kept  # type: ignore[attr-defined]


def daemons_at_exit(path: str) -> None:
    """Daemon threads that load without end."""
    train, images = loader(path), dsconv.Dataset(path)
    python = loader(path, transforms=lambda image: np.asarray(image))
    begun = threading.Barrier(5)

    def forever(work: Callable[[], Any]) -> None:
        work()
        begun.wait()
        while True:
            work()

    for work in (
        lambda: digest(train),
        lambda: images[5],
        lambda: digest(loader(path)),
        lambda: digest(python),
    ):
        threading.Thread(target=forever, args=(work,), daemon=True).start()
    begun.wait()
