"""The comparison of one sample on every path that its pixels take."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any, Callable

from PIL import Image

from . import images
from .certificate import Certificate, Path, major, packed_by, pillow_of
from .difference import difference
from .images import FILTERS, Pixels, Resize, pixels_of

CROP = 224  # the side to which random regions are scaled
ENCODED = 1 << 26  # pixels: more than the sides of any image whose resize is made
NO_DEEP_COLOR = "no 16-bit colour in Pillow"
TOO_LARGE = "the scaled image would be too large"


@dataclass(frozen=True)
class Given:
    """What the command sent under one name: an image, or why it has none."""

    data: bytes | Pixels = b""  # encoded, or pixels
    error: str = ""
    unsupported: bool = False  # the error is that dsconv does not support the image's kind
    color: str = "rgb"
    orient: bool = False
    region: tuple[int, int, int, int] = (0, 0, 0, 0)  # left, top, width, height
    by: str = ""  # what of a GPU decoded it: "engine" or "cuda"


@dataclass(frozen=True)
class Made:
    """What Pillow or torchvision made of an image: pixels, or why there are none."""

    pixels: Pixels | None = None
    error: str = ""
    other_order: bool = False  # a Pillow before 13 may make other pixels


class Comparison:
    """Compares samples, in any order and in several threads."""

    def __init__(self, start: dict[str, Any]) -> None:
        start["recipe"] = start["recipe"] or {}
        self.start = start
        self.resize = Resize(**start["resize"])
        self.judge = images.versions(self.resize.in_torchvision(ENCODED, ENCODED))
        self.newest = pillow_of(start["dsconv"]["resampler"])
        self.as_is = "resize" not in start["recipe"]
        self.paths = {p.name: p for p in paths_of(start, self.resize)}
        self.changed: list[str] = []
        self._lock = threading.Lock()

    def certificate(self) -> Certificate:
        fixed = paths_of(self.start, self.resize)  # the others come in the order of the images
        order = [p.name for p in fixed] + sorted(self.paths)
        paths = sorted(self.paths.values(), key=lambda p: order.index(p.name))
        return Certificate(self.start, self.judge, paths, self.changed)

    def sample(self, key: str, changed: bool, given: dict[str, Given]) -> None:
        """Compares all paths of a sample. changed: its file is another one than when it was packed."""
        want = self._source(key, given)
        if changed:
            want = None
            with self._lock:
                self.changed.append(key)
        self._stored(key, given, want)

    def _source(self, key: str, given: dict[str, Given]) -> Made | None:
        """Compares what is made of the source, and gives what should have been stored, by Pillow."""
        file, ours = given["source file"], given["decode"]
        theirs = self._open("decode", key, file, ours)
        if theirs is None:
            return None
        self.compare("decode", key, ours, made(lambda: theirs))
        want = made(lambda: theirs) if self.as_is else None
        if "resize" not in given:
            self.paths["resize"].skip(TOO_LARGE)
            return want
        to_w, to_h = self.resize.size(*theirs.size)
        scaled = made(lambda: self.resize.by_pillow(theirs), other_order(theirs.height, theirs.width, to_h, to_w))
        if not self.as_is:
            want = scaled
        if self._both("resize", key, given["resize"], ""):
            self.compare("resize", key, self._cut(given["resize"]), scaled)
            if "torchvision" in self.judge and self.resize.in_torchvision(*theirs.size):
                by = made(lambda: self.resize.by_torchvision(theirs), scaled.other_order)
                self.compare("torchvision", key, self._cut(given["resize"]), by)
        if "fast" in given and self._both("fast", key, given["fast"], ""):
            self.compare("fast", key, self._cut(given["fast"]), Made(scaled.pixels, scaled.error))
        if "gpu" in given:
            self._gpu(key, given["gpu"], scaled)
        return want

    def _gpu(self, key: str, ours: Given, scaled: Made) -> None:
        """Compares what a GPU made of the source. What decoded it is a path of its own."""
        if not ours.by:
            self.paths["gpu"].skip(ours.error)
            return
        name = f"gpu {ours.by}"
        with self._lock:
            if name not in self.paths:
                self.paths[name] = Path(name, "the source, as resize, by the GPU", "asked for by name")
        if self._both(name, key, ours, ""):
            self.compare(name, key, self._cut(ours), scaled)

    def _stored(self, key: str, given: dict[str, Given], want: Made | None) -> None:
        """Compares what is stored with what it should be, and with what Pillow makes of it."""
        file, ours = given["stored file"], given["stored"]
        if not ours.error and want is not None and want.pixels is not None:
            theirs = Made(with_colors(want.pixels), other_order=want.other_order)
            self.compare("packed", key, Given(with_colors(pixels_in(ours))), theirs)
        im = self._open("stored", key, file, ours)
        if im is None:
            return
        if not isinstance(file.data, Pixels):  # raw pixels need no decoder
            self.compare("stored", key, ours, made(lambda: im))
        region = given["region"]
        if not self._both("region", key, region, ""):
            return
        x, y, w, h = region.region
        cut = im.crop((x, y, x + w, y + h))
        self.compare("region", key, region, made(lambda: cut))
        crop = made(lambda: cut.resize((CROP, CROP), FILTERS["bilinear"]), other_order(h, w, CROP, CROP))
        self.compare("crop", key, given["crop"], crop)

    def _open(self, path: str, key: str, file: Given, ours: Given) -> Image.Image | None:
        """The image in Pillow, None where it cannot be compared."""
        deep_color = isinstance(file.data, Pixels) and not file.data.mode
        if file.error or deep_color:
            self.paths[path].skip(file.error or NO_DEEP_COLOR)
            return None
        im, refusal = None, ""
        try:
            im = images.opened(file.data, file.color, file.orient)
        except Exception as e:
            refusal = reason(e)
        return im if self._both(path, key, ours, refusal) else None

    def _both(self, path: str, key: str, ours: Given, theirs: str) -> bool:
        """Whether both sides decode an image; if not, it is noted who does not."""
        if not ours.error and not theirs:
            return True
        self.paths[path].refuse(key, ours.error, theirs, ours.unsupported)
        return False

    def compare(self, path: str, key: str, ours: Given, theirs: Made) -> None:
        pixels, why = pixels_in(ours), ""
        if theirs.pixels is None:
            why = f"Pillow: {theirs.error}"
        elif not pixels.mode:
            why = NO_DEEP_COLOR
        else:
            d = difference(pixels, theirs.pixels)
            if theirs.other_order and d.largest and major(self.judge["pillow"]) < self.newest:
                why = f"Pillow {self.judge['pillow']} has another order of passes"
        if why:
            self.paths[path].skip(why)
        else:
            self.paths[path].add(key, d)

    def _cut(self, ours: Given) -> Given:
        """The centre of the command's image, where the resize ends with one."""
        pixels, side = pixels_in(ours), self.resize.center
        return Given(pixels_of(images.center(pixels.image(), side, side))) if side and pixels.mode else ours


def paths_of(start: dict[str, Any], resize: Resize) -> list[Path]:
    """All that is compared, by what is made of an image."""
    recipe = start["recipe"]
    how = f"shorter:{resize.w} bilinear, centre {resize.center}"
    if "resize" in recipe:
        how = f"{recipe['resize']} {resize.filter}"
    return [
        Path("decode", "the source, decoded"),
        Path("resize", f"the source, {how}"),
        Path("torchvision", "the same by torchvision"),
        Path("packed", "what is stored, against Pillow's pixels of the source", allowed(start)),
        Path("stored", "what is stored, decoded"),
        Path("region", "a part of what is stored, decoded alone"),
        Path("crop", f"a random part of what is stored, bilinear to {CROP}"),
        Path("fast", "the source, as resize, by --decode fast", "asked for by name"),
        Path("gpu", "the source, as resize, by --decoder gpu", "asked for by name"),
    ]


def allowed(start: dict[str, Any]) -> str:
    """Why what is stored may differ from Pillow's pixels of the source."""
    recipe, decoder = start["recipe"], start["recipe"].get("decoder", "")
    encode = recipe.get("encode", "")
    if encode.partition(":")[0] == "jpeg":
        return f"{encode} is lossy"
    if recipe.get("decode") == "fast":
        return "decode fast was asked for by name"
    if decoder == "gpu":
        return f"decoded by {packed_by(recipe)}"
    return "" if decoder in ("", start["dsconv"]["decoder"]) else f"packed by the decoder {decoder}"


def made(make: Callable[[], Image.Image], other_order: bool = False) -> Made:
    try:
        return Made(pixels_of(make()), "", other_order)
    except Exception as e:
        return Made(None, reason(e))


def reason(e: Exception) -> str:
    return f"{type(e).__name__}: {e}"


def pixels_in(given: Given) -> Pixels:
    assert isinstance(given.data, Pixels)
    return given.data


def other_order(h: int, w: int, to_h: int, to_w: int) -> bool:
    """Whether a Pillow before 13 scales an image in another order of passes, which rounds otherwise in between."""
    return to_w != w and h > to_h and h - to_h > 2 * (w - to_w)


def with_colors(pixels: Pixels) -> Pixels:
    """Grey and alpha as RGB and alpha, as it is stored in a PNG."""
    return pixels_of(pixels.image().convert("RGBA")) if pixels.mode == "LA" else pixels
