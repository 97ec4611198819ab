"""A library that was used before a fork."""

from __future__ import annotations

import multiprocessing
import threading
from typing import Any

import dsconv
from dsconv import _library
from shared import digest, expected, forked, loader


def fork_after_use(path: str) -> None:
    want = expected(path)
    train = loader(path)
    assert digest(train) == want

    def child(depth: int) -> list[str]:
        train.set_epoch(0)
        deeper = forked(lambda: child(depth - 1)) if depth > 1 else []
        return [digest(train), expected(path), *deeper]  # the parent's object and a new one

    assert forked(lambda: child(3)) == [want] * 6
    train.set_epoch(0)
    assert digest(train) == want


def fork_during_epoch(path: str) -> None:
    train = loader(path)
    want = expected(path)
    epoch = iter(train)
    kept = [next(epoch), next(epoch)]
    before = digest(kept)

    def child() -> bool:
        try:
            next(epoch)
        except dsconv.Error as error:
            assert "forked" in str(error)
        else:
            raise AssertionError("the child could continue an epoch of the parent")
        train.set_epoch(0)
        assert digest(train) == want
        assert digest(loader(path)) == want
        return digest(kept) == before

    assert forked(child)
    assert digest(kept) == before
    assert digest([*kept, *epoch]) == want


def fork_in_thread(path: str) -> None:
    """Forks while other threads use the library, from a thread that uses it too."""
    train, stop = loader(path), threading.Event()
    want = expected(path)
    images = dsconv.Dataset(path)

    def work() -> None:
        while not stop.is_set():
            images[3]
            _library.call("cores")

    busy = [threading.Thread(target=work) for _ in range(3)]
    for thread in busy:
        thread.start()
    results: list[Any] = []
    forks = threading.Thread(target=lambda: results.extend(forked(lambda: expected(path)) for _ in range(3)))
    forks.start()
    forks.join()
    stop.set()
    for thread in busy:
        thread.join()
    assert results == [want] * 3 and digest(train) == want


def in_child(train: dsconv.Loader, images: dsconv.Dataset, path: str, connection: Any) -> None:
    connection.send((digest(train), expected(path), images[7][0].tobytes()))
    connection.close()


def start_methods(path: str) -> None:
    """Uses a Loader and a Dataset of the parent in processes of multiprocessing."""
    train, images = loader(path, cache="encoded:16MB"), dsconv.Dataset(path)
    want, pixels = digest(train), images[7][0].tobytes()
    train.set_epoch(0)
    for method in ("fork", "spawn", "forkserver"):
        context = multiprocessing.get_context(method)
        receiver, sender = context.Pipe(False)
        process = context.Process(target=in_child, args=(train, images, path, sender))
        process.start()
        assert receiver.recv() == (want, want, pixels), method
        process.join()
        assert process.exitcode == 0, method
    assert digest(train) == want
