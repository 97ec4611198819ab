"""The number of images in a batch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

_MOST_DEPTH = 4  # of a batch's lists and dicts

_Path = tuple[Any, ...]  # the keys of an element in a batch


def count(batch: Any) -> int:
    """The first dimension of the first tensor or array in a batch that has one; without any, the length of its first
    list that holds nothing else, such as names. 0 if there is none.

    It looks at the batch alone: where there is a loader, `counter` knows more.
    """
    found = list(_lengths(batch))
    return next((n for n, _, dimensions in found if dimensions), found[-1][0] if found else 0)


def counter(loader: Any) -> Callable[[Any], int]:
    """The function that counts the images in this loader's batches.

    A collate_fn may make any batch: a list of samples, or a tuple of lists of images of many sizes. Where the loader
    says how many samples a batch has, the element of the first batch that has this length is counted in all others.
    """
    order = getattr(loader, "batch_sampler", None)
    size = getattr(loader, "batch_size", None) or getattr(order, "batch_size", None)
    if isinstance(size, int) and not isinstance(size, bool):
        return _Counter(size)
    if hasattr(loader, "collate_fn") and size is None and order is None:
        return _or_a_sample
    return count


class _Counter:
    """Counts what was as long as a full batch."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._path: _Path | None = None  # None: not known yet

    def __call__(self, batch: Any) -> int:
        if self._path is None:
            full = [(path, dimensions) for n, path, dimensions in _lengths(batch) if n == self._size]
            if not full:
                return count(batch)
            # Four dimensions are those of a batch of images. Deep inside, a length may be equal by chance, such as that
            # of an image's channels; so may be the number of parts that a batch has.
            self._path = max(full, key=lambda f: (f[1] > 3, f[0] != (), -len(f[0])))[0]
        return _length_at(batch, self._path)


def _or_a_sample(batch: Any) -> int:
    """For a DataLoader that makes no batches: its dataset gives either whole ones or single samples."""
    found = list(_lengths(batch))
    first = next((f for f in found if f[2]), None)
    if first is None:
        return max(1, count(batch))
    n, path, dimensions = first
    beside = any(m == n and other != path and len(other) == len(path) for m, other, _ in found)  # such as the labels
    return n if dimensions > 3 or beside else 1


def _lengths(batch: Any, path: _Path = ()) -> Iterator[tuple[int, _Path, int]]:
    """The length, place and dimensions (0: a list) of each tensor, array and list in a batch, outermost first."""
    shape = getattr(batch, "shape", None)
    if shape is not None:
        if len(shape):
            yield int(shape[0]), path, len(shape)
        return
    if len(path) >= _MOST_DEPTH:
        return
    if isinstance(batch, Mapping):
        for key, value in batch.items():
            yield from _lengths(value, (*path, key))
    elif isinstance(batch, (list, tuple)):
        if path or isinstance(batch, list):  # the outermost tuple has images and labels, not samples
            yield len(batch), path, 0
        for k, value in enumerate(batch[:16]):
            yield from _lengths(value, (*path, k))


def _length_at(batch: Any, path: _Path) -> int:
    try:
        for key in path:
            batch = batch[key]
        shape = getattr(batch, "shape", None)
        return len(batch) if shape is None else int(shape[0])
    except (KeyError, IndexError, TypeError):
        return count(batch)
