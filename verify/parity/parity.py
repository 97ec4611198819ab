"""What Pillow and torchvision make of images.

Requests come on standard input and answers go to standard output: 4 bytes of length (big-endian), JSON of that
length, then the bytes that the JSON speaks of. The first answer, which nobody asked for, tells the versions.
"""

import array
import io
import json
import os
import struct
import sys
import warnings

# What a library prints must not come between the answers.
ANSWERS = os.fdopen(os.dup(1), "wb")
os.dup2(2, 1)


def answer(header, *parts):
    text = json.dumps(header).encode()
    ANSWERS.write(struct.pack(">I", len(text)) + text)
    for part in parts:
        ANSWERS.write(part)
    ANSWERS.flush()


try:
    from PIL import Image, ImageOps, features
    from PIL import __version__ as pillow
except Exception as e:
    answer({"error": f"{type(e).__name__}: {e}"})
    sys.exit()

CHANNELS = {"L": (1, 8), "LA": (2, 8), "RGB": (3, 8), "RGBA": (4, 8), "I;16": (1, 16)}
FILTERS = {"nearest": 0, "lanczos": 1, "bilinear": 2, "bicubic": 3, "box": 4, "hamming": 5}


def versions(with_torchvision):
    v = {"python": sys.version.split()[0], "pillow": pillow}
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


def kept(im, kind):
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


COLORS = {"rgb": lambda im, kind: im.convert("RGB"), "gray": lambda im, kind: im.convert("L"), "keep": kept}


def opened(q, data):
    if q.get("mode"):
        return COLORS[q["color"]](Image.frombytes(q["mode"], (q["w"], q["h"]), data), "raw")
    Image.MAX_IMAGE_PIXELS = q["max_pixels"] / 2  # it raises from twice that
    with Image.open(io.BytesIO(data)) as im:
        kind = im.format
        if q["orient"]:
            im = ImageOps.exif_transpose(im)
        im = COLORS[q["color"]](im, kind)
        im.load()
        return im


def scaled(w, h, q):
    """The size that a recipe's resize scales an image to."""
    mode, to_w, to_h = q["mode"], q["w"], q["h"]
    if mode == "exact":
        return to_w, to_h
    if mode in ("shorter", "longer"):
        by_width, to_h = (w <= h) == (mode == "shorter"), to_w
    else:
        by_width = to_w * h <= to_h * w if mode == "fit" else to_w * h >= to_h * w
    size = (to_w, max(1, to_w * h // w)) if by_width else (max(1, to_h * w // h), to_h)
    enlarges = size[0] > w or size[1] > h
    return (w, h) if enlarges and mode != "cover" and not q["upscale"] else size


def center(im, w, h):
    x, y = round((im.width - w) / 2), round((im.height - h) / 2)
    return im.crop((x, y, x + w, y + h))


def by_pillow(im, q):
    out = im.resize(scaled(*im.size, q), FILTERS[q["filter"]])
    if q["mode"] == "cover":
        return center(out, q["w"], q["h"])
    return center(out, q["center"], q["center"]) if q["center"] else out


def by_torchvision(im, q):
    from torchvision.transforms import InterpolationMode
    from torchvision.transforms import functional as F

    size = [q["h"], q["w"]] if q["mode"] == "exact" else q["w"]
    out = F.resize(im, size, InterpolationMode(q["filter"]))
    cut = q["w"] if q["mode"] == "cover" else q["center"]
    return F.center_crop(out, [cut, cut]) if cut else out


def region(im, q):
    out = im.crop((q["x"], q["y"], q["x"] + q["w"], q["y"] + q["h"]))
    return out.resize((q["side"], q["side"]), FILTERS[q["filter"]]) if q["side"] else out


STEPS = {"decode": lambda im, q: im, "resize": by_pillow, "torchvision": by_torchvision, "region": region}


def result(im, q):
    try:
        out = STEPS[q["op"]](im, q)
        channels, bits = CHANNELS[out.mode]
    except Exception as e:
        return {"error": f"{type(e).__name__}: {e}"}, b""
    return {"shape": [out.height, out.width, channels], "bits": bits}, out.tobytes()


def main():
    warnings.simplefilter("ignore")
    answer(versions("torchvision" in sys.argv))
    requests = sys.stdin.buffer
    while head := requests.read(4):
        q = json.loads(requests.read(struct.unpack(">I", head)[0]))
        data = requests.read(q["size"])
        try:
            im = opened(q, data)
        except Exception as e:
            answer({"error": f"{type(e).__name__}: {e}"})
            continue
        headers, pixels = zip(*(result(im, step) for step in q["steps"]))
        answer({"results": headers}, *pixels)


main()
