"""The functions of libraries that read, decode and change images, which are timed where a dataset calls them itself."""

from __future__ import annotations

import builtins
import importlib
import io
import os
import sys
from typing import Any, Callable

from .clock import AUGMENT, COLLATE, DECODE, READ, Clock, Label, named, timed
from .patches import Patches

# The functions as they are without timers.
_open, _readv, _close = os.open, os.readv, os.close

# Modules, a class in them, the functions, their kind. Only modules that are already imported are looked at. Those that
# change images are at the end: a transform that calls one has its time itself.
_FUNCTIONS: list[tuple[str, str, str, str]] = [
    ("os", "", "read pread preadv sendfile", READ),
    ("PIL.Image", "", "open", DECODE),
    ("PIL.ImageFile", "ImageFile", "load", DECODE),
    ("cv2", "", "imread imdecode imreadmulti", DECODE),
    ("imageio imageio.v2 imageio.v3 skimage.io", "", "imread", DECODE),
    ("turbojpeg", "TurboJPEG", "decode", DECODE),
    ("simplejpeg", "", "decode_jpeg", DECODE),
    ("torchvision.io.image torchvision.io", "", "read_file", READ),
    (
        "torchvision.io.image torchvision.io",
        "",
        "decode_image decode_jpeg decode_png decode_gif decode_webp decode_avif decode_heic",
        DECODE,
    ),
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
    ("PIL.Image", "Image", "convert", DECODE),  # to the colours that training wants
    ("PIL.Image", "Image", "resize crop rotate transpose transform filter thumbnail reduce", AUGMENT),
    (
        "PIL.ImageOps",
        "",
        "fit pad contain equalize autocontrast exif_transpose mirror flip posterize solarize",
        AUGMENT,
    ),
    (
        "cv2",
        "",
        "resize cvtColor warpAffine warpPerspective flip GaussianBlur blur medianBlur remap LUT filter2D",
        AUGMENT,
    ),
    (
        "torchvision.transforms.functional",
        "",
        "to_tensor pil_to_tensor normalize resize crop center_crop resized_crop hflip vflip rotate affine "
        "adjust_brightness adjust_contrast adjust_saturation adjust_hue gaussian_blur to_grayscale erase",
        AUGMENT,
    ),
]

# What calls functions that change images in these has their time itself; "" is the loop.
_HAVE_IT_THEMSELVES = ("", AUGMENT, DECODE, COLLATE)

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
        for modules, cls, names, kind in _FUNCTIONS:
            for module in modules.split():
                self._wrap(module, cls, names, kind)
        if first:
            _open_files(self._clock, self._patches)

    def forget(self) -> None:
        """To be called when the patches were undone."""
        self._done.clear()
        self._modules = 0

    def _wrap(self, module: str, cls: str, names: str, kind: str) -> None:
        """Times the functions that exist and have no timer yet."""
        holder: Any = sys.modules.get(module)
        if holder is not None and cls:
            holder = getattr(holder, cls, None)
        for name in names.split() if holder is not None else ():
            function = vars(holder).get(name)
            if callable(function) and (module, cls, name) not in self._done:
                self._done.add((module, cls, name))
                label = Label(".".join(filter(None, (module.partition(".")[0], cls, name))), kind)
                wrap = _reading_first if name == "imread" else timed
                if kind == AUGMENT or name == "convert":
                    wrap = outside_of_transforms
                self._patches.attribute(holder, name, wrap(self._clock, self._clock.part(label), function))


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
