"""A dataset that the library has opened, once in each process that uses it."""

from __future__ import annotations

import contextlib
import ctypes
import os
from collections.abc import Iterator
from typing import Any, TypedDict

import numpy as np

from . import _library
from ._device_memory import check_process
from ._fields import Field
from ._held import Held

_NUMBERS = {"int32": 0, "float64": 1}  # as in internal/capi/numbers.h
_TEXTS = 4096  # samples whose texts are asked for at once


class FieldDescription(TypedDict):
    """One of a description's fields."""

    name: str
    kind: str
    dtype: str
    shape: list[int] | None


class ViewDescription(TypedDict):
    """One of a description's views."""

    part: int
    shape: list[int] | None
    offset: int
    seed: int


class RestDescription(TypedDict):
    """What is left to do on a view: see internal/capi/rest.h."""

    dtype: str
    shape: list[int]
    channels: int
    tables: bool


class Description(TypedDict):
    """The library's description of a loader: see internal/capi/loader.go."""

    loader: int
    format: str
    config: dict[str, Any]  # the JSON of reader.Config
    samples: int
    batches: int
    classes: list[str] | None
    splits: dict[str, int]
    columns: list[str] | None
    parts: list[FieldDescription]
    views: list[ViewDescription] | None
    slots: int
    block_size: int
    repeats: bool
    rest: list[RestDescription] | None
    left_out: list[str]  # sentences on what is in folders and cannot be read


class Source(Held):
    """A dataset with all settings of its batches. It can be pickled, and used in a forked process.

    Args:
        configuration: the arguments of the library's `open`; arrays instead of their handles.
    """

    def __init__(self, **configuration: Any) -> None:
        self.configuration = configuration
        self._opened: tuple[int, Description] | None = None  # process, description
        self.describe()

    def describe(self) -> Description:
        """The library's description of the dataset, which this opens if it is not open."""
        pid, opened = os.getpid(), self._opened
        if opened is not None and opened[0] == pid:
            return opened[1]
        with _library.lock():
            opened = self._opened
            if opened is None or opened[0] != pid:
                opened = self._opened = pid, self._open()
            return opened[1]

    def _open(self) -> Description:
        if self.gpu is not None:
            check_process()
        with contextlib.ExitStack() as handles:
            arguments = {
                name: handles.enter_context(_copied(value)) if isinstance(value, np.ndarray) else value
                for name, value in self.configuration.items()
            }
            description: Description = _library.call("open", **arguments)
        return description

    @property
    def handle(self) -> int:
        return self.describe()["loader"]

    @property
    def configured(self) -> dict[str, Any]:
        """The configuration with the library's defaults: the JSON of reader.Config."""
        return self.describe()["config"]

    @property
    def deferred(self) -> bool:
        """Reports whether the library leaves bytes of pixels, which a device makes a batch's elements of."""
        deferred: bool = self.configuration.get("deferred", False)
        return deferred

    @property
    def gpu(self) -> int | None:
        """CUDA's number of the GPU that decodes, in whose memory images are; None if the CPU does."""
        options = self.configuration.get("gpu")
        return None if options is None else options["device"]

    @property
    def samples(self) -> int:
        return self.describe()["samples"]

    @property
    def batches(self) -> int:
        return self.describe()["batches"]

    @property
    def classes(self) -> list[str]:
        return self.describe()["classes"] or []

    @property
    def seed(self) -> int:
        """The seed of the order and of all random draws."""
        seed: int = self.configuration["seed"]
        return seed

    @property
    def columns(self) -> list[str]:
        """The columns of texts, which are no fields."""
        return self.describe()["columns"] or []

    @property
    def splits(self) -> dict[str, int]:
        """The number of samples of each split of the whole dataset; "" counts those without a split."""
        return self.describe()["splits"]

    @property
    def fields(self) -> list[Field]:
        return [
            Field(k, p["name"], p["kind"], p["dtype"], None if p["shape"] is None else tuple(p["shape"]))
            for k, p in enumerate(self.describe()["parts"])
        ]

    @property
    def views(self) -> list[ViewDescription]:
        """The views of the images; none if a batch has one image of each sample alone."""
        return self.describe()["views"] or []

    @property
    def view_seeds(self) -> list[int]:
        """The seeds of the views' random draws."""
        return [view["seed"] for view in self.views]

    @property
    def view_parts(self) -> list[int]:
        """The numbers of the views' fields."""
        return [view["part"] for view in self.views]

    @property
    def repeats(self) -> bool:
        """Reports whether an epoch may contain a sample more than once."""
        return self.describe()["repeats"]

    def call(self, method: str, **arguments: Any) -> Any:
        """Calls a method of the library on this dataset."""
        return _library.call(method, loader=self.handle, arguments=arguments)

    def change(self, **configuration: Any) -> None:
        """Changes settings for the next batches; their fields must stay the same."""
        self.close()
        self.configuration = {**self.configuration, **configuration}

    def labels(self) -> np.ndarray:
        """The labels of all samples in key order: class indices, int64, -1 for no label; the numbers to predict,
        float32, nan for no label; or a row of uint8 for each, with a column for each class. Nobody can write to the
        array, which is a copy: a view of the dataset's file would change with it."""
        kind = next((field.kind for field in self.fields if field.number == 1), "")
        dtype = {"number": np.float32, "multihot": np.uint8}.get(kind, np.int64)
        columns = (len(self.classes),) if kind == "multihot" else ()
        labels = np.empty((self.samples, *columns), dtype)
        _library.result(_library.library().dsconv_labels(self.handle, labels.ctypes.data, labels.nbytes))
        labels.setflags(write=False)
        return labels

    def texts(self, method: str) -> Iterator[Any]:
        """The results of a method that takes samples, for all samples, some at a time: few are in JSON at once."""
        n = self.samples
        for first in range(0, max(n, 1), _TEXTS):
            yield self.call(method, samples=list(range(first, min(first + _TEXTS, n))))

    def column(self, name: str, samples: list[int]) -> list[str]:
        """The texts of a column for some samples; "" for -1, which is padding."""
        texts: list[str] = self.call("columns", samples=samples, names=[name])[name]
        return texts

    def order(self, epoch: int, position: int, room: int) -> tuple[np.ndarray, np.ndarray]:
        """The indices of this rank's first samples from a position on, at most `room`, int32, and their positions,
        int64. Sample i as padding has the index -1 - i."""
        order, positions = np.empty(room, np.int32), np.empty(room, np.int64)
        n = _library.count(
            _library.library().dsconv_order(
                self.handle, epoch, position, order.ctypes.data, positions.ctypes.data, room
            )
        )
        return order[:n], positions[:n]

    def entries(self) -> int:
        """The number of this rank's samples in an epoch, padding included."""
        return _library.count(_library.library().dsconv_order(self.handle, 0, 0, None, None, 0))

    def pick(self, i: int, epoch: int, position: int = -1) -> int:
        """Reads sample i and returns its handle, which `drop` must free. The position is needed for an epoch that may
        contain a sample more than once."""
        out = ctypes.c_int64()
        _library.result(_library.library().dsconv_pick(self.handle, i, epoch, position, out))
        return out.value

    @staticmethod
    def drop(picked: int) -> None:
        _library.library().dsconv_drop(picked)

    def close(self) -> None:
        """Closes the dataset and stops its iterators. The next use opens it again."""
        opened, self._opened = self._opened, None
        if opened is not None and opened[0] == os.getpid():
            _library.call("close", loader=opened[1]["loader"])

    def __getstate__(self) -> dict[str, Any]:
        return {"configuration": self.configuration, "_opened": None}


@contextlib.contextmanager
def _copied(values: np.ndarray) -> Iterator[int]:
    """A handle of the library's copy of an array of int32 or float64."""
    handle, lib = ctypes.c_int64(), _library.library()
    values = np.ascontiguousarray(values)
    _library.result(lib.dsconv_numbers(values.ctypes.data, len(values), _NUMBERS[values.dtype.name], handle))
    try:
        yield handle.value
    finally:
        lib.dsconv_drop(handle)
