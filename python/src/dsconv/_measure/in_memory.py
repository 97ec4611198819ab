"""The rule "keep the dataset in memory": a dataset whose images, or whole samples, come from memory."""

from __future__ import annotations

import copy
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import cycle, islice
from typing import Any

from torch.utils.data import DataLoader, Dataset, IterableDataset

from dsconv._measure.process_memory import available, batch_bytes
from dsconv._measure.rebuild import CannotRebuild, rebuilt, with_dataset

_MOST_BYTES = 1 << 29  # that are kept for the measurement
_LEAST_BATCHES = 2
_DEPTH = 8  # of datasets inside datasets, such as Subset


@dataclass
class Kept:
    """Two DataLoaders of the same few batches, again and again: the user's dataset, and the one in memory."""

    without: DataLoader[Any]
    loader: DataLoader[Any]
    images: bool  # decoded images are kept; otherwise whole samples, after their transforms
    whole_bytes: int  # that the whole dataset would take


class Repeated:
    """A sampler that repeats the same items up to a length."""

    def __init__(self, items: list[Any], length: int) -> None:
        self.items, self.length = items, length

    def __iter__(self) -> Iterator[Any]:
        return islice(cycle(self.items), self.length)

    def __len__(self) -> int:
        return self.length


class Images:
    """Takes the place of an image folder's loader: images by their path, from memory where they are kept."""

    def __init__(self, load: Any) -> None:
        self.load = load
        self.images: dict[Any, Any] = {}

    def __call__(self, path: Any) -> Any:
        found = self.images.get(path)
        return self.load(path) if found is None else found

    def keep(self, path: Any) -> int:
        """Loads an image and keeps its pixels. Returns their bytes."""
        if path in self.images:
            return 0
        image = self.load(path)
        pixels = getattr(image, "load", None)  # Pillow decodes only now
        if pixels is not None:
            pixels()
        self.images[path] = image
        return size_of(image)


class Samples(Dataset):  # type: ignore[misc, type-arg, unused-ignore]
    """The samples of a dataset that are kept, as it gave them once."""

    def __init__(self, dataset: Any) -> None:
        self.dataset = dataset
        self.samples: dict[Any, Any] = {}

    def __getitem__(self, index: Any) -> Any:
        return self.samples[index] if index in self.samples else self.dataset[index]

    def __len__(self) -> int:
        return len(self.dataset)

    def keep(self, index: Any) -> int:
        """Loads a sample and keeps it. Returns its bytes."""
        if index in self.samples:
            return 0
        self.samples[index] = self.dataset[index]
        return size_of(self.samples[index])


def keep(loader: DataLoader[Any], seconds: float) -> Kept:
    """Keeps the samples of the first batches, as many as load in about that time. Raises CannotRebuild, with the
    reason, if there is nothing to be kept."""
    if isinstance(loader.dataset, IterableDataset):
        raise CannotRebuild("an iterable dataset has no samples that could be looked up")
    if in_memory(loader.dataset):
        raise CannotRebuild("the dataset is in memory already")
    copied = rebuilt(loader)
    name = "batch_sampler" if copied.batch_sampler is not None else "sampler"
    sampler = getattr(copied, name)
    memory, images = _memory_of(loader.dataset)
    items, count, size = _filled(iter(sampler), memory, seconds)
    if len(items) < _LEAST_BATCHES:
        raise CannotRebuild(f"a batch takes more than {seconds / 2:.1f} s to load")
    repeated = Repeated(items, max(len(sampler), len(items)))
    sides = [with_dataset(loader, loader.dataset), with_dataset(loader, memory.dataset)]
    for side in sides:
        vars(side)[name] = repeated
    return Kept(sides[0], sides[1], images, size * len(loader.dataset) // max(count, 1))


def in_memory(dataset: Any) -> bool:
    """Reports whether the dataset, or one inside it, has its samples as one tensor or array: TensorDataset, CIFAR10."""
    for inner in _chain(dataset):
        held = list(vars(inner).values()) if hasattr(inner, "__dict__") else []
        held += [x for value in held if isinstance(value, tuple) for x in value]
        for value in held:
            shape = getattr(value, "shape", None)
            if shape is not None and len(shape) > 1 and shape[0] == _length(inner) and not _is_mapped(value):
                return True
    return False


def size_of(value: Any) -> int:
    """The bytes of the tensors, arrays and images in a sample."""
    if isinstance(value, Mapping):
        return sum(map(size_of, value.values()))
    if isinstance(value, (list, tuple)):
        return sum(map(size_of, value))
    bands = getattr(value, "getbands", None)
    if bands is not None:
        width, height = value.size
        # Pillow has 4 bytes for a pixel of three bands.
        return int(width * height * (1 if value.mode in ("L", "P") else 4))
    return batch_bytes(value)


class _Filler:
    """The dataset to load from, and how an index is kept."""

    def __init__(self, dataset: Any, kept: Any, path_of: Any = None) -> None:
        self.dataset, self.kept, self.path_of = dataset, kept, path_of

    def keep(self, index: Any) -> int:
        size: int = self.kept.keep(index if self.path_of is None else self.path_of(index))
        return size


def _memory_of(dataset: Any) -> tuple[_Filler, bool]:
    """What keeps the dataset's samples, and whether it keeps images before their transforms."""
    chain = list(_chain(dataset))
    folder = chain[-1]
    paths = getattr(folder, "samples", None)
    if not callable(getattr(folder, "loader", None)) or not isinstance(paths, list):
        whole = Samples(dataset)
        return _Filler(whole, whole), False
    images = Images(folder.loader)
    inner = copy.copy(folder)
    inner.loader = images
    for outer in reversed(chain[:-1]):
        clone = copy.copy(outer)
        clone.dataset = inner
        inner = clone

    def path_of(index: Any) -> Any:
        for outer in chain[:-1]:
            index = outer.indices[index]
        return paths[index][0]

    return _Filler(inner, images, path_of), True


def _filled(batches: Iterator[Any], memory: _Filler, seconds: float) -> tuple[list[Any], int, int]:
    """The batches of indices whose samples are kept now, the number of these and their bytes."""
    most = min(_MOST_BYTES, available() // 8 or _MOST_BYTES)
    items: list[Any] = []
    count = size = 0
    began = time.perf_counter()
    for batch in batches:
        if len(items) >= _LEAST_BATCHES and (time.perf_counter() - began > seconds or size > most):
            break
        for index in batch if isinstance(batch, (list, tuple)) else [batch]:
            added = memory.keep(index)
            count, size = count + (added > 0), size + added
        items.append(batch)
    return items, count, size


def _chain(dataset: Any) -> Iterator[Any]:
    """The dataset and those inside it that are parts of one another by indices, as in Subset."""
    for _ in range(_DEPTH):
        yield dataset
        if not hasattr(dataset, "indices") or not hasattr(dataset, "dataset"):
            return
        dataset = dataset.dataset


def _length(dataset: Any) -> int:
    try:
        return len(dataset)
    except TypeError:
        return -1


def _is_mapped(array: Any) -> bool:
    while array is not None:
        if type(array).__name__ == "memmap":
            return True
        array = getattr(array, "base", None)
    return False
