"""Images as they come from the command, and what Pillow and torchvision make of them."""

from __future__ import annotations

import array
import io
import sys
from dataclasses import dataclass
from typing import Any, Callable

from PIL import Image, ImageOps, features
from PIL import __version__ as PILLOW

MODES = {(1, 8): "L", (2, 8): "LA", (3, 8): "RGB", (4, 8): "RGBA", (1, 16): "I;16"}
CHANNELS = {mode: channels for channels, mode in MODES.items()}
FILTERS = {"nearest": 0, "lanczos": 1, "bilinear": 2, "bicubic": 3, "box": 4, "hamming": 5}


@dataclass(frozen=True)
class Pixels:
    """Rows of pixels, channels side by side; values of 16 bits are little-endian."""

    data: bytes
    height: int
    width: int
    channels: int
    bits: int

    @property
    def mode(self) -> str:
        """Pillow's name for such pixels, "" if it has none."""
        return MODES.get((self.channels, self.bits), "")

    def image(self) -> Image.Image:
        return Image.frombytes(self.mode, (self.width, self.height), self.data)

    def __str__(self) -> str:
        return f"{self.height}x{self.width}x{self.channels} of uint{self.bits}"


def pixels_of(im: Image.Image) -> Pixels:
    return Pixels(im.tobytes(), im.height, im.width, *CHANNELS[im.mode])


@dataclass(frozen=True)
class Resize:
    """A recipe's resize, and the side of the square that is cut from its centre, 0 for none."""

    mode: str
    w: int
    h: int
    filter: str
    upscale: bool
    center: int

    def size(self, w: int, h: int) -> tuple[int, int]:
        """The width and height to which an image is scaled, before anything is cut off."""
        if self.mode == "exact":
            return self.w, self.h
        if self.mode in ("shorter", "longer"):
            by_width, to_h = (w <= h) == (self.mode == "shorter"), self.w
        else:
            to_h = self.h
            by_width = self.w * h <= to_h * w if self.mode == "fit" else self.w * h >= to_h * w
        size = (self.w, max(1, self.w * h // w)) if by_width else (max(1, to_h * w // h), to_h)
        enlarges = size[0] > w or size[1] > h
        return (w, h) if enlarges and self.mode != "cover" and not self.upscale else size

    def by_pillow(self, im: Image.Image) -> Image.Image:
        out = im.resize(self.size(*im.size), FILTERS[self.filter])
        if self.mode == "cover":
            return center(out, self.w, self.h)
        return center(out, self.center, self.center) if self.center else out

    def in_torchvision(self, w: int, h: int) -> bool:
        """Whether torchvision has this resize: Resize, with CenterCrop for a square that is covered."""
        if self.mode == "shorter":
            return self.upscale or self.w <= min(w, h)
        return self.mode == "exact" or (self.mode == "cover" and self.w == self.h)

    def by_torchvision(self, im: Image.Image) -> Image.Image:
        from torchvision.transforms import InterpolationMode
        from torchvision.transforms import functional as F

        size: Any = [self.h, self.w] if self.mode == "exact" else self.w
        out = F.resize(im, size, InterpolationMode(self.filter))
        side = self.w if self.mode == "cover" else self.center
        return F.center_crop(out, [side, side]) if side else out


def center(im: Image.Image, w: int, h: int) -> Image.Image:
    x, y = round((im.width - w) / 2), round((im.height - h) / 2)
    return im.crop((x, y, x + w, y + h))


def versions(with_torchvision: bool) -> dict[str, str]:
    v = {"python": sys.version.split()[0], "pillow": PILLOW}
    turbo = features.version("libjpeg_turbo")
    v["jpeg"] = f"libjpeg-turbo {turbo}" if turbo else f"libjpeg {features.version('jpg')}"
    if with_torchvision:
        try:
            import torch
            import torchvision

            torch.set_num_threads(1)
            v["torchvision"] = torchvision.__version__
        except Exception:  # not there, or there without torch
            pass
    return v


def kept(im: Image.Image, kind: str | None) -> Image.Image:
    """The file's own channels and depth; what is no such thing (palettes, CMYK) becomes RGB."""
    if kind in ("BMP", "GIF") and im.mode in ("1", "L"):  # a palette that Pillow sees is grey
        return im.convert("RGB")
    if im.mode in CHANNELS:
        return im
    if im.mode == "1":
        return im.convert("L")
    if im.mode == "I" or im.mode.startswith("I;16"):
        wide = array.array("i", im.convert("I").tobytes())
        deep = array.array("H", (min(max(x, 0), 65535) for x in wide))
        if sys.byteorder == "big":
            deep.byteswap()
        return Image.frombytes("I;16", im.size, deep.tobytes())
    return im.convert("RGB")


COLORS: dict[str, Callable[[Image.Image, Any], Image.Image]] = {
    "rgb": lambda im, kind: im.convert("RGB"),
    "gray": lambda im, kind: im.convert("L"),
    "keep": kept,
}


def opened(file: bytes | Pixels, color: str, orient: bool) -> Image.Image:
    """An encoded image as Pillow decodes it, or raw pixels, in the colours that the recipe asks for."""
    if isinstance(file, Pixels):
        return COLORS[color](file.image(), None)
    with Image.open(io.BytesIO(file)) as im:
        kind = im.format
        turned = ImageOps.exif_transpose(im) if orient else im
        result = COLORS[color](turned, kind)
        result.load()
        return result
