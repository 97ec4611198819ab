"""Pictures of a dataset: calls the command `dsconv show`."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Union

from . import _command, _scratch

if TYPE_CHECKING:
    from PIL.Image import Image


class Sheet:
    """A picture where Pillow is not installed: notebooks show it, and `save` writes a PNG file."""

    def __init__(self, png: bytes) -> None:
        self._png = png

    def _repr_png_(self) -> bytes:
        return self._png

    def save(self, path: str | os.PathLike[str]) -> None:
        Path(path).write_bytes(self._png)


Picture = Union["Image", Sheet]


def show(
    path: str,
    splits: Sequence[str],
    *,
    n: int | None,
    augment: str | None,
    seed: int | None,
    classes: Sequence[str],
    keys: Sequence[str],
    columns: int | None,
    size: int | None,
) -> Picture:
    """What Dataset.show returns."""
    options = _command.flags(split=splits, number=n, augment=augment, seed=seed, columns=columns, size=size)
    options += [f"--class={name}" for name in classes]
    with _scratch.scratch("show") as scratch:
        out = Path(scratch, "sheet.png")
        options += ["--keys-from=-"] if keys else []
        _command.run(["show", f"--output={out}", *options, "--", path], stdin="\n".join(keys))
        png = out.read_bytes()
    try:
        from PIL import Image
    except ImportError:
        return Sheet(png)
    image = Image.open(io.BytesIO(png))
    image.load()
    return image
