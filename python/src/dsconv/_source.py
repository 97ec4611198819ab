"""A dataset opened by the library, once in each process that uses it."""

from __future__ import annotations

import contextlib
import ctypes
import math
import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _native


@dataclass(frozen=True)
class Part:
    """One tensor of a batch."""

    number: int
    name: str
    kind: str
    dtype: str
    shape: tuple[int, ...] | None  # of one sample's value, None where it differs from sample to sample


class Source:
    """A dataset with all that decides its batches. It can be pickled, and used in a forked process."""

    def __init__(self, **configuration: Any) -> None:
        self.configuration = configuration
        self._opened: tuple[int, dict[str, Any]] | None = None
        self.describe()

    def describe(self) -> dict[str, Any]:
        """What the library tells of the dataset: see capi/loader.go."""
        pid, opened = os.getpid(), self._opened
        if opened is not None and opened[0] == pid:
            return opened[1]
        with _native.lock():
            opened = self._opened
            if opened is None or opened[0] != pid:
                opened = self._opened = pid, _native.call("open", **self.configuration)
            return opened[1]

    @property
    def handle(self) -> int:
        return self.describe()["loader"]

    @property
    def configured(self) -> dict[str, Any]:
        """The configuration with the library's defaults: the JSON of reader.Config."""
        return self.describe()["config"]

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
    def splits(self) -> dict[str, int]:
        """How many samples each split of the whole dataset has; those of no split have the name ""."""
        return self.describe()["splits"]

    @property
    def parts(self) -> list[Part]:
        return [
            Part(k, p["name"], p["kind"], p["dtype"], None if p["shape"] is None else tuple(p["shape"]))
            for k, p in enumerate(self.describe()["parts"])
        ]

    def call(self, method: str, **arguments: Any) -> Any:
        return _native.call(method, loader=self.handle, arguments=arguments)

    def change(self, **configuration: Any) -> None:
        """Has batches made otherwise from now on, of the same parts."""
        self.close()
        self.configuration = {**self.configuration, **configuration}

    def numbers(self) -> list[float]:
        """The samples' labels in order of key, where they are numbers; nan stands for none."""
        return [math.nan if x is None else float(x) for x in self.call("numbers")]  # JSON has 3 for 3.0

    def labels(self) -> np.ndarray:
        """The samples' labels in order of key, int64; -1 stands for none."""
        labels = np.empty(self.samples, np.int64)
        lib = _native.library()
        _native.result(lib.dsconv_labels(self.handle, labels.ctypes.data, len(labels)))
        return labels

    @property
    def repeats(self) -> bool:
        """Whether a sample may come more than once in an epoch."""
        return self.describe()["repeats"]

    def order(self, epoch: int, position: int) -> tuple[np.ndarray, np.ndarray]:
        """The samples that this rank takes from a position on, int32, and their positions, int64; -1 - i stands for i
        as padding."""
        lib, handle = _native.library(), self.handle
        n = _native.known(lib.dsconv_order(handle, epoch, position, None, None, 0))
        order, positions = np.empty(n, np.int32), np.empty(n, np.int64)
        lib.dsconv_order(handle, epoch, position, order.ctypes.data, positions.ctypes.data, n)
        return order, positions

    def pick(self, i: int, epoch: int, position: int = -1) -> int:
        """A handle of sample i, to be dropped by `drop`. position: in an epoch in which samples may come more than
        once."""
        out = ctypes.c_int64()
        _native.result(_native.library().dsconv_pick(self.handle, i, epoch, position, out))
        return out.value

    @staticmethod
    def drop(picked: int) -> None:
        _native.library().dsconv_drop(picked)

    def close(self) -> None:
        """Closes the dataset, and ends what is running on it. It opens again when it is used."""
        opened, self._opened = self._opened, None
        if opened is not None and opened[0] == os.getpid():
            _native.call("close", loader=opened[1]["loader"])

    def __getstate__(self) -> dict[str, Any]:
        return {"configuration": self.configuration, "_opened": None}

    def __del__(self) -> None:
        with contextlib.suppress(Exception, SystemExit):  # the interpreter may be ending
            self.close()
