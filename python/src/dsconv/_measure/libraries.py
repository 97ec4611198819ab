"""The functions of libraries that read, decode and change images, which are timed where a dataset calls them itself."""

from __future__ import annotations

import builtins
import importlib
import io
import os
import sys
from collections.abc import Iterator
from typing import Any, Callable

from .clock import AUGMENT, COLLATE, DECODE, READ, Clock, Label, named, timed
from .patches import Patches

# The functions as they are without timers.
_open, _readv, _close = os.open, os.readv, os.close

# Module or class, the functions, their kind. Only modules that are already imported are looked at.
_FUNCTIONS: list[tuple[str, str, str, str]] = [
    ("os", "", "read pread preadv sendfile", READ),
    ("PIL.Image", "", "open", DECODE),
    ("PIL.ImageFile", "ImageFile", "load", DECODE),
    ("cv2", "", "imread imdecode imreadmulti", DECODE),
    ("imageio", "", "imread", DECODE),
    ("imageio.v2", "", "imread", DECODE),
    ("imageio.v3", "", "imread", DECODE),
    ("skimage.io", "", "imread", DECODE),
    ("turbojpeg", "TurboJPEG", "decode", DECODE),
    ("simplejpeg", "", "decode_jpeg", DECODE),
    ("torchvision.io.image", "", "read_file", READ),
    (
        "torchvision.io.image",
        "",
        "decode_image decode_jpeg decode_png decode_gif decode_webp decode_avif decode_heic",
        DECODE,
    ),
    ("torchvision.io", "", "read_file", READ),
    ("torchvision.io", "", "decode_image decode_jpeg decode_png decode_gif decode_webp", DECODE),
    ("numpy", "", "load fromfile", READ),
    ("numpy", "memmap", "__getitem__", READ),
    ("h5py", "Dataset", "__getitem__ read_direct", READ),
    ("zarr", "Array", "__getitem__", READ),
    ("lmdb.cffi", "Transaction", "get", READ),
    ("torch", "", "load", READ),
    ("zipfile", "ZipFile", "read open", READ),
    ("zipfile", "ZipExtFile", "read", READ),
    ("urllib.request", "", "urlopen", READ),
    ("http.client", "HTTPResponse", "read readinto", READ),
    ("socket", "SocketIO", "readinto", READ),
    ("requests.sessions", "Session", "request", READ),
    ("botocore.response", "StreamingBody", "read", READ),
]

# What calls the functions below in these has their time itself; "" is the loop.
_HAVE_IT_THEMSELVES = ("", AUGMENT, DECODE, COLLATE)

# Functions that change images. A transform that calls them has their time itself.
_CHANGES: list[tuple[str, str, str]] = [
    ("PIL.Image", "Image", "convert resize crop rotate transpose transform filter thumbnail reduce"),
    ("PIL.ImageOps", "", "fit pad contain equalize autocontrast exif_transpose mirror flip posterize solarize"),
    ("cv2", "", "resize cvtColor warpAffine warpPerspective flip GaussianBlur blur medianBlur remap LUT filter2D"),
    (
        "torchvision.transforms.functional",
        "",
        "to_tensor pil_to_tensor normalize resize crop center_crop resized_crop hflip vflip rotate affine "
        "adjust_brightness adjust_contrast adjust_saturation adjust_hue gaussian_blur to_grayscale erase",
    ),
]


# Modules that others import only when they are first used.
_COMPANIONS = {"PIL.Image": "PIL.ImageFile"}


class Libraries:
    """The timers around the functions of all libraries that are imported. `install` may be called again, for those
    that were imported since."""

    def __init__(self, clock: Clock, patches: Patches) -> None:
        self._clock, self._patches = clock, patches
        self._done: set[tuple[str, str, str]] = set()
        self._modules = 0  # that were imported at the last call

    def install(self) -> None:
        if len(sys.modules) == self._modules:
            return
        for module, companion in _COMPANIONS.items():
            if module in sys.modules:
                importlib.import_module(companion)
        first, self._modules = self._modules == 0, len(sys.modules)
        for module, cls, names, kind in _FUNCTIONS:
            for holder, name, function in self._new(module, cls, names):
                part = self._clock.part(Label(_shown(module, cls, name), kind))
                wrap = _reading_first if name == "imread" else timed
                self._patches.attribute(holder, name, wrap(self._clock, part, function))
        for module, cls, names in _CHANGES:
            for holder, name, function in self._new(module, cls, names):
                kind = DECODE if name == "convert" else AUGMENT  # of an image to the colours that training wants
                part = self._clock.part(Label(_shown(module, cls, name), kind))
                self._patches.attribute(holder, name, outside_of_transforms(self._clock, part, function))
        if first:
            _open_files(self._clock, self._patches)

    def forget(self) -> None:
        """To be called when the patches were undone."""
        self._done.clear()
        self._modules = 0

    def _new(self, module: str, cls: str, names: str) -> Iterator[tuple[Any, str, Callable[..., Any]]]:
        """The functions that exist and have no timer yet, with what holds them."""
        holder: Any = sys.modules.get(module)
        if holder is not None and cls:
            holder = getattr(holder, cls, None)
        for name in names.split() if holder is not None else ():
            function = vars(holder).get(name)
            if callable(function) and (module, cls, name) not in self._done:
                self._done.add((module, cls, name))
                yield holder, name, function


def _shown(module: str, cls: str, name: str) -> str:
    return ".".join(filter(None, (module.partition(".")[0], cls, name)))


def outside_of_transforms(clock: Clock, part: int, function: Callable[..., Any]) -> Callable[..., Any]:
    """Times a function, but not where a transform calls it: then the time is the transform's."""
    inner = timed(clock, part, function)
    inside = clock.inside

    def call(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs) if inside() in _HAVE_IT_THEMSELVES else inner(*args, **kwargs)

    return named(call, function)


def _reading_first(clock: Clock, part: int, function: Callable[..., Any]) -> Callable[..., Any]:
    """Times a function that reads and decodes a file. The file is read once before, in the part "open": what follows
    is decoding, from the page cache. The function itself is called as it is."""
    inner = timed(clock, part, function)
    read = timed(clock, clock.part(Label("open", READ)), _read)

    def call(*args: Any, **kwargs: Any) -> Any:
        if args and isinstance(args[0], (str, bytes, os.PathLike)) and clock.inside():
            read(args[0])
        return inner(*args, **kwargs)

    return named(call, function)


def _read(path: Any) -> None:
    """Reads a file and forgets it."""
    try:
        descriptor = _open(path, os.O_RDONLY | os.O_CLOEXEC)
    except (OSError, ValueError):
        return  # the function itself says so
    try:
        buffer = bytearray(1 << 20)
        while _readv(descriptor, [buffer]):
            pass
    except OSError:
        return
    finally:
        _close(descriptor)


def _open_files(clock: Clock, patches: Patches) -> None:
    """Times open() and what is read from binary files that it opens."""
    part, opened = clock.part(Label("open", READ)), io.open
    enters, leave = clock.enters, clock.leave

    class TimedReader(io.BufferedReader):
        """A file as open() returns it."""

    for name in ("read", "read1", "readinto", "readinto1", "readline", "readlines", "peek"):
        setattr(TimedReader, name, timed(clock, part, getattr(io.BufferedReader, name)))
    TimedReader.__name__ = TimedReader.__qualname__ = "BufferedReader"

    def call(*args: Any, **kwargs: Any) -> Any:
        if not enters(part, False):
            return opened(*args, **kwargs)
        try:
            file = opened(*args, **kwargs)
            if type(file) is not io.BufferedReader:
                return file
            buffering = args[2] if len(args) > 2 else kwargs.get("buffering", -1)
            raw = file.detach()
            size = buffering if buffering > 1 else getattr(raw, "_blksize", 0)
            return TimedReader(raw, size if size > 1 else io.DEFAULT_BUFFER_SIZE)
        finally:
            leave()

    for module in (builtins, io):
        patches.attribute(module, "open", named(call, opened))
