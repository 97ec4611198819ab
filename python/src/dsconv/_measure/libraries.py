"""The functions of libraries that read, decode and change images, which are timed where a dataset calls them itself."""

from __future__ import annotations

import builtins
import contextlib
import functools
import importlib
import io
import itertools
import sys
from typing import Any, Callable

from .clock import AUGMENT, COLLATE, DECODE, READ, Clock, Part, replace, timed

# Kinds, modules or modules:classes, functions. Only modules that are already imported are looked at. A conversion of
# colours is decoding: training wants it. A transform that calls a function to augment has its time itself.
_FUNCTIONS = """
read     os                                   read pread preadv sendfile
decode   PIL.Image                            open
decode   PIL.ImageFile:ImageFile              load
decode   PIL.Image:Image                      convert
decode   cv2                                  imread imdecode imreadmulti
decode   imageio,imageio.v2,imageio.v3        imread
decode   skimage.io                           imread
decode   turbojpeg:TurboJPEG                  decode
decode   simplejpeg                           decode_jpeg
read     torchvision.io.image,torchvision.io  read_file
decode   torchvision.io.image,torchvision.io  decode_image decode_jpeg decode_png decode_gif decode_webp
decode   torchvision.io.image,torchvision.io  decode_avif decode_heic
read     numpy                                load fromfile
read     numpy:memmap                         __getitem__
read     h5py:Dataset                         __getitem__ read_direct
read     zarr:Array                           __getitem__
read     lmdb.cffi:Transaction                get
read     torch                                load
read     zipfile:ZipFile                      read open
read     zipfile:ZipExtFile                   read
read     urllib.request                       urlopen
read     http.client:HTTPResponse             read readinto
read     socket:SocketIO                      readinto
read     requests.sessions:Session            request
read     botocore.response:StreamingBody      read
augment  PIL.Image:Image                      resize crop rotate transpose transform filter thumbnail reduce
augment  PIL.ImageOps                         fit pad contain equalize autocontrast exif_transpose mirror flip
augment  PIL.ImageOps                         posterize solarize
augment  cv2                                  resize cvtColor warpAffine warpPerspective flip GaussianBlur blur
augment  cv2                                  medianBlur remap LUT filter2D
augment  torchvision.transforms.functional    to_tensor pil_to_tensor normalize resize crop center_crop
augment  torchvision.transforms.functional    resized_crop hflip vflip rotate affine gaussian_blur erase
augment  torchvision.transforms.functional    adjust_brightness adjust_contrast adjust_saturation adjust_hue
augment  torchvision.transforms.functional    to_grayscale
"""


def time_libraries(clock: Clock, undo: contextlib.ExitStack, done: set[tuple[Any, str]]) -> None:
    """Times the functions of all libraries that are imported, until undo is closed. It may be called again, for those
    that were imported since; done are the functions that have timers."""
    if "PIL.Image" in sys.modules:
        importlib.import_module("PIL.ImageFile")  # which others import when they first use it
    for kind, places, *names in map(str.split, _FUNCTIONS.split("\n")[1:-1]):
        modules, _, cls = places.partition(":")
        for package, name in itertools.product(modules.split(","), names):
            holder: Any = sys.modules.get(package)
            holder = getattr(holder, cls, None) if cls else holder
            function = getattr(holder, "__dict__", {}).get(name)
            if callable(function) and (holder, name) not in done:
                done.add((holder, name))
                title = ".".join(filter(None, (package.partition(".")[0], cls, name)))
                wrap = outside_of_transforms if kind == AUGMENT or name == "convert" else timed
                replace(undo, holder, name, wrap(clock, clock.part(title, kind), function))
    if (io, "open") not in done:
        done.add((io, "open"))
        call = _opening(clock)
        for module in (builtins, io):
            replace(undo, module, "open", call)


def outside_of_transforms(clock: Clock, part: Part, function: Callable[..., Any]) -> Callable[..., Any]:
    """Times a function, but not where a transform, a decoder or the collating calls it: then the time is theirs."""
    inner, inside = timed(clock, part, function), clock.inside

    @functools.wraps(function, updated=())
    def call(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs) if inside() in ("", AUGMENT, DECODE, COLLATE) else inner(*args, **kwargs)

    return call


def _opening(clock: Clock) -> Callable[..., Any]:
    """open(), timed as well as what is read from binary files that it opens."""
    part, opened = clock.part("open", READ), io.open

    class BufferedReader(io.BufferedReader):
        """A file as open() returns it."""

    for name in ("read", "read1", "readinto", "readinto1", "readline", "readlines", "peek"):
        setattr(BufferedReader, name, timed(clock, part, getattr(io.BufferedReader, name)))

    def opening(file: Any, mode: str = "r", buffering: int = -1, *args: Any, **kwargs: Any) -> Any:
        found: Any = opened(file, mode, buffering, *args, **kwargs)
        if type(found) is not io.BufferedReader:
            return found
        raw: Any = found.detach()
        return BufferedReader(raw, buffering if buffering > 1 else raw._blksize)

    inner = timed(clock, part, opening)
    return functools.wraps(opened)(lambda *args, **kwargs: (inner if clock.inside() else opened)(*args, **kwargs))
