"""Images, packed and loaded faster than training needs them.

    import dsconv

    dsconv.pack("images/", "out.lmdb")
    for x, y in dsconv.Loader("out.lmdb", batch_size=256, transforms=tf, shuffle=True):
        ...

`Loader` takes the place of a DataLoader, `Dataset` that of an ImageFolder; `pack` and `bench` are dsconv's commands,
`timed` measures a loop of your own.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.7.0"

# Names and where they are: imported when they are used, so that `import dsconv` takes no time.
_NAMES = {
    "Dataset": "dataset",
    "Error": "_native",
    "Loader": "loader",
    "PackReport": "_packing",
    "Report": "_report",
    "bench": "_benching",
    "pack": "_packing",
    "timed": "_timing",
}

__all__ = [
    "Dataset", "Error", "Loader", "PackReport", "Report", "__version__", "bench", "pack", "timed", "transforms",
]  # fmt: skip

if TYPE_CHECKING:
    from . import transforms
    from ._benching import bench
    from ._native import Error
    from ._packing import PackReport, pack
    from ._report import Report
    from ._timing import timed
    from .dataset import Dataset
    from .loader import Loader


def __getattr__(name: str) -> Any:
    if name in _NAMES:
        return getattr(importlib.import_module(f".{_NAMES[name]}", __name__), name)
    if name == "transforms":
        return importlib.import_module(".transforms", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
