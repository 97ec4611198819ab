"""Many epochs and Loaders must not leak, and kept batches must stay valid."""

from __future__ import annotations

import gc
import pickle
import threading
from contextlib import closing

import dsconv
import numpy as np
from dsconv import _batch_stream, _library
from shared import FEW, WORDS, digest, expected, files, forked, loader, resident, threads


def epochs(path: str, cache: str) -> None:
    """After 20 epochs there are no more threads, open files and memory than before."""
    train = loader(path, cache=cache or None, transforms="rrc:224,normalize")
    seen = []
    for _ in range(20):
        assert sum(len(images) for images, _ in train) == 48
        seen.append((threads(), files(), resident()))
    caches = mapped_caches()
    first, last = seen[2:7], seen[15:]
    assert max(s[0] for s in last) <= max(s[0] for s in first) + FEW, seen
    assert last[-1][1] == first[0][1], seen
    early, late = (sum(s[2] for s in part) / 5 for part in (first, last))
    print("memory, kB:", early, late)
    assert late <= 1.05 * early, seen
    print("caches:", *sorted(caches))


def mapped_caches() -> set[str]:
    """The files of caches that this process uses, not those of others that run beside it."""
    with open("/proc/self/maps") as maps:
        mapped = [line for line in maps if "/dsconv-cache-" in line]
    return {line.split(maxsplit=5)[5].removesuffix(" (deleted)\n").strip() for line in mapped}


def loaders(path: str) -> None:
    """Opens and closes 200 Loaders, and drops 200 without closing them."""
    for _ in range(5):
        with closing(loader(path)) as train:
            next(iter(train))
    opened, idle, memory = files(), threads(), 0
    for k in range(200):
        train = loader(path)
        epoch = iter(train)
        next(epoch)
        if k % 2:
            train.close()
        del epoch, train
        if k == 50:
            memory = resident()
    assert files() == opened and threads() <= idle + FEW, (opened, files(), idle, threads())
    assert not _batch_stream._in_use
    print("memory, kB:", memory, resident())
    assert resident() <= 1.1 * memory


def kept_batches(path: str) -> None:
    """Batches stay unchanged while they are referenced, also after their Loader is gone."""
    train = loader(path)
    want = [digest([batch]) for batch in train]
    train.set_epoch(0)
    batches = list(train)
    views = [images[1:3, :, ::2] for images, _ in batches]
    copies = [view.copy() for view in views]
    for _ in range(3):
        list(train)
    train.close()
    del train
    gc.collect()
    assert [digest([batch]) for batch in batches] == want
    del batches
    gc.collect()
    other = [batch for _ in range(3) for batch in loader(path, seed=1)]
    assert all(np.array_equal(view, copy) for view, copy in zip(views, copies)) and other


def concurrent(path: str) -> None:
    """Threads that share a Loader and a Dataset, and open them at the same time."""
    want, samples = expected(path), 48
    train, images = loader(path), dsconv.Dataset(path)
    pixels = [np.asarray(images[i][0]) for i in range(samples)]
    train.close()
    images.close()
    before, failed = files(), []
    ready = threading.Barrier(6)

    def work(k: int) -> None:
        try:
            ready.wait()
            for i in range(samples):
                assert np.array_equal(np.asarray(images[(i + k) % samples][0]), pixels[(i + k) % samples])
            assert sum(len(x) for x, _ in train) == samples
            assert digest(loader(path)) == want
        except BaseException as error:
            failed.append(error)
            raise

    running = [threading.Thread(target=work, args=(k,)) for k in range(6)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    assert not failed
    train.close()
    images.close()
    gc.collect()
    assert files() == before, (before, files())  # none was opened twice


def tidy(path: str) -> None:
    """For -X dev -W error: no warning of any kind."""
    train = loader(path)
    next(iter(train))
    assert len(dsconv.Dataset(path)) == 48
    del train
    gc.collect()


def with_torch(path: str, order: str) -> None:
    """Imports torch before the library, or after it."""
    if order == "first":
        import torch
    train = dsconv.Dataset(path)
    assert len(train) == 48
    _library.call("cores")
    import torch

    batches = dsconv.Loader(path, 8, WORDS, num_workers=2)
    kept = [images for images, _ in batches]
    assert all(isinstance(images, torch.Tensor) for images in kept)
    sums = [int(images.sum()) for images in kept]
    fresh = pickle.loads(pickle.dumps(batches))
    del batches
    fresh.set_epoch(0)
    assert forked(lambda: [int(images.sum()) for images, _ in fresh]) == sums
    assert [int(images.sum()) for images in kept] == sums
