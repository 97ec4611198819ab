"""What Pillow says: reads requests as JSON lines, answers each with a JSON line."""

import base64
import hashlib
import io
import json
import os
import sys
import warnings

import numpy as np
from PIL import Image, ImageFile, ImageOps

DEVNULL = os.open(os.devnull, os.O_WRONLY)
ImageFile.MAXBLOCK = 4 << 20  # Pillow cannot write an optimised noise with less
LIMIT, Image.MAX_IMAGE_PIXELS = Image.MAX_IMAGE_PIXELS, None
FILTERS = {"nearest": 0, "lanczos": 1, "bilinear": 2, "bicubic": 3, "box": 4, "hamming": 5}


def pixels(im, indices=False):
    if im.mode == "1" and not indices:
        im = im.convert("L")
    a = np.ascontiguousarray(np.asarray(im))
    if a.dtype == bool:  # whose bytes are 0 and 255 in Pillow's memory
        return np.where(a, 1, 0).astype(np.uint8)
    return a.astype("<u2") if a.dtype.itemsize == 2 else a


def convert(q):
    with Image.open(q["path"]) as im:
        if q.get("orient"):
            im = ImageOps.exif_transpose(im)
        im.load()
        a = pixels(im.convert(q["mode"]) if q["mode"] else im, q.get("indices"))
    return {"shape": list(a.shape), "sha": hashlib.sha256(a.tobytes()).hexdigest()}


def judge(q):
    """What a user's Pillow makes of a file, with its own limits and without warnings."""
    Image.MAX_IMAGE_PIXELS = LIMIT
    os.dup2(DEVNULL, 2)  # libtiff prints
    try:
        with warnings.catch_warnings(action="ignore"), Image.open(q["path"]) as im:
            a = pixels(im.convert("RGB"))
    finally:
        Image.MAX_IMAGE_PIXELS = None
    return {"shape": list(a.shape), "sha": hashlib.sha256(a.tobytes()).hexdigest()}


def photo(w, h, seed):
    rng = np.random.default_rng(seed)
    small = Image.fromarray(rng.integers(0, 256, (h // 6 + 2, w // 6 + 2, 3), dtype=np.uint8))
    a = np.asarray(small.resize((w, h), Image.BICUBIC)).astype(np.int16)
    a = a + rng.integers(-12, 13, a.shape)
    return Image.fromarray(a.clip(0, 255).astype(np.uint8))


def make(q):
    d, names = q["dir"], []

    def save(name, im, **kw):
        im.save(os.path.join(d, name), **kw)
        names.append(name)

    for w, h in q.get("sizes", ((1, 1), (2, 3), (7, 5), (8, 8), (17, 33), (64, 48), (131, 67), (250, 333))):
        im, s = photo(w, h, w), f"{w}x{h}"
        for sub in (0, 1, 2):
            save(f"sub{sub}-{s}.jpg", im, quality=83, subsampling=sub)
        save(f"prog-{s}.jpg", im, quality=70, progressive=True)
        save(f"opt-{s}.jpg", im, quality=95, optimize=True)
        save(f"restart-{s}.jpg", im, quality=75, restart_marker_blocks=2)
        save(f"gray-{s}.jpg", im.convert("L"), quality=88)
        save(f"grayprog-{s}.jpg", im.convert("L"), quality=88, progressive=True)
        save(f"keeprgb-{s}.jpg", im, quality=88, keep_rgb=True)
        save(f"cmyk-{s}.jpg", Image.merge("CMYK", [*im.split(), photo(w, h, 9).split()[0]]), quality=90)
        save(f"rgb-{s}.png", im)
        save(f"l-{s}.png", im.convert("L"))
        save(f"bit-{s}.png", im.convert("1"))
        save(f"p-{s}.png", im.quantize(200))
        save(f"p16-{s}.png", im.quantize(9))
        save(f"p4-{s}.png", im.quantize(3))
        save(f"ptrns-{s}.png", im.quantize(20), transparency=1)
        save(f"rgbtrns-{s}.png", im, transparency=im.getpixel((0, 0)))
        save(f"ltrns-{s}.png", im.convert("L"), transparency=im.convert("L").getpixel((0, 0)))
        rgba = im.copy()
        rgba.putalpha(photo(w, h, 5).convert("L"))
        save(f"rgba-{s}.png", rgba)
        save(f"la-{s}.png", rgba.convert("LA"))
        deep = np.asarray(photo(w, h, 3).convert("L")).astype(np.uint16) * 201 + np.arange(w, dtype=np.uint16)
        save(f"i16-{s}.png", Image.fromarray(deep))
        low = (deep >> 8).astype(np.uint16) * 2
        save(f"i16low-{s}.png", Image.fromarray(low))
        save(f"rgb-{s}.bmp", im)
        save(f"p-{s}.bmp", im.quantize(50))
        save(f"rgb-{s}.tif", im)
        save(f"lzw-{s}.tif", im, compression="tiff_lzw")
        save(f"l-{s}.tif", im.convert("L"))
        for zero in (0, 1):  # which is white, which is black
            save(f"fax3{zero}-{s}.tif", im.convert("1"), compression="group3", tiffinfo={262: zero})
            save(f"fax4{zero}-{s}.tif", im.convert("1"), compression="group4", tiffinfo={262: zero})
        save(f"i16-{s}.tif", Image.fromarray(deep))
        save(f"rgba-{s}.tif", rgba)
        save(f"p-{s}.gif", im.quantize(120))
        save(f"lossy-{s}.webp", im, quality=70)
        save(f"method0-{s}.webp", im, quality=20, method=0)
        save(f"lossless-{s}.webp", im, lossless=True)
        save(f"alpha-{s}.webp", rgba, quality=90)
        save(f"alphalow-{s}.webp", rgba, quality=50, alpha_quality=40)
        save(f"losslessalpha-{s}.webp", rgba, lossless=True, exact=True)
        moved = rgba.transpose(Image.Transpose.ROTATE_180)
        save(f"animated-{s}.webp", rgba, save_all=True, append_images=[moved], lossless=True)
        save(f"animatedrgb-{s}.webp", im, save_all=True, append_images=[moved], quality=60)
    for o in range(1, 9):
        exif = Image.Exif()
        exif[274] = o
        im = photo(41, 29, o)
        save(f"exif{o}.jpg", im, exif=exif)
        save(f"exif{o}.png", im, exif=exif)
        save(f"exif{o}.webp", im, exif=exif)
        save(f"orient{o}.tif", im, tiffinfo={274: o})
    return {"names": names}


def jpegs(q):
    """JPEGs of small odd sizes and of all kinds, and with metadata."""
    names = []

    def save(name, im, **kw):
        im.save(os.path.join(q["dir"], name + ".jpg"), quality=80, **kw)
        names.append(name + ".jpg")

    for w in (1, 7, 8, 17, 33, 40):
        for h in (1, 15, 24, 39):
            im, prog, s = photo(w, h, 40 * w + h), (w + h) % 3 == 0, f"{w}x{h}"
            for sub in ("4:4:4", "4:2:2", "4:2:0"):
                save(f"{s}-{sub.replace(':', '')}", im, subsampling=sub, progressive=prog)
            save(f"gray-{s}", im.convert("L"), progressive=prog)
            save(f"rgb-{s}", im, keep_rgb=True)
            save(f"cmyk-{s}", Image.merge("CMYK", [*im.split(), im.split()[0]]), restart_marker_blocks=3)
    exif = Image.Exif()
    exif[274], exif[315] = 5, "somebody"
    im = photo(41, 29, 7)
    meta = {"exif": exif, "comment": b"said", "icc_profile": b"p" * 70000, "dpi": (300, 200), "xmp": b"<x/>"}
    save("metadata", im, **meta)
    save("metadata-prog", im, progressive=True, **meta)
    return {"names": names}


def read(q):
    """Pixels as they are, and mode, size, orientation, then all metadata; a warning is an error."""
    with warnings.catch_warnings(action="error"), Image.open(q["path"]) as im:
        im.load()
        names = [im.mode, str(im.size), str(im.getexif().get(274, 1))]
        if not q.get("strip"):
            names += [f"{k} {v}" for k, v in sorted(im.info.items()) if k not in ("progressive", "progression")]
        return {"names": names, "sha": hashlib.sha256(im.tobytes()).hexdigest()}


def resize(q):
    im = Image.frombytes(q["mode"], q["size"], base64.b64decode(q["pixels"]))
    if q.get("crop"):
        x, y, w, h = q["crop"]
        im = im.crop((x, y, x + w, y + h))
    im = im.resize(q["to"], FILTERS[q["filter"]], box=q.get("box"))
    return {"pixels": base64.b64encode(im.tobytes()).decode()}


def save(q):
    b = io.BytesIO()
    Image.frombytes(q["mode"], q["size"], base64.b64decode(q["pixels"])).save(b, "JPEG", **q["options"])
    return {"pixels": base64.b64encode(b.getvalue()).decode()}


def recipe(q):
    with Image.open(q["path"]) as im:
        out = im.convert("RGB").resize(q["to"], FILTERS[q["filter"]])
    x, y, w, h = q["keep"]
    a = pixels(out.crop((x, y, x + w, y + h)))
    return {"shape": list(a.shape), "sha": hashlib.sha256(a.tobytes()).hexdigest()}


def scaled(q):
    """A digest for each mode, size and filter, in this order."""
    digests = []
    with Image.open(q["path"]) as im:
        for mode in ("RGB", "L"):
            whole = im.convert(mode)
            for size in q["sizes"]:
                for f in q["filters"]:
                    digests.append(hashlib.sha256(whole.resize(size, FILTERS[f]).tobytes()).hexdigest())
    return {"names": digests}


OPS = {f.__name__: f for f in (convert, jpegs, judge, make, read, recipe, resize, save, scaled)}

for line in sys.stdin:
    request = json.loads(line)
    try:
        answer = OPS[request["op"]](request)
    except Exception as e:
        answer = {"error": f"{type(e).__name__}: {e}"}
    print(json.dumps(answer), flush=True)
