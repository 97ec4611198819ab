"""Packs images into datasets and loads them for training.

    import dsconv

    dsconv.pack("images/", "out.lmdb")
    for x, y in dsconv.Loader("out.lmdb", batch_size=256, transforms=tf, shuffle=True):
        ...

`Loader` replaces a DataLoader and `Dataset` replaces an ImageFolder. `pack`, `plan` and `bench` call the commands of
the same names. `timed` measures your own training loop.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.7.0"

# The modules of the public names. They are imported at the first use, so that `import dsconv` is fast.
_NAMES = {
    "Dataset": "dataset",
    "Error": "_errors",
    "Loader": "loader",
    "PackReport": "_pack",
    "Plan": "_plan",
    "Report": "_report",
    "Writer": "_objects.writer",
    "bench": "_bench",
    "pack": "_pack",
    "plan": "_plan",
    "timed": "_timed",
}

__all__ = [
    "Dataset", "Error", "Loader", "PackReport", "Plan", "Report", "Writer", "__version__", "bench", "pack", "plan",
    "timed", "transforms",
]  # fmt: skip

if TYPE_CHECKING:
    from . import transforms
    from ._bench import bench
    from ._errors import Error
    from ._objects.writer import Writer
    from ._pack import PackReport, pack
    from ._plan import Plan, plan
    from ._report import Report
    from ._timed import timed
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
