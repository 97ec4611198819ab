"""Does to raw images what a list of jobs on stdin says, with Pillow or torchvision.

A job is {"op", "in", "shape": [H, W, C], "args": [...], "out"}.
"""

import json
import sys

import numpy as np
from PIL import Image, ImageEnhance, ImageOps


def shorter_center(img, shorter, h, w):
    iw, ih = img.size
    size = (shorter, int(shorter * ih / iw)) if iw <= ih else (int(shorter * iw / ih), shorter)
    img = img.resize(size, Image.BILINEAR)
    left, top = int(round((img.width - w) / 2.0)), int(round((img.height - h) / 2.0))
    return img.crop((left, top, left + w, top + h))


def crop_resize_flip(img, x, y, w, h, ow, oh):
    img = img.crop((x, y, x + w, y + h)).resize((ow, oh), Image.BILINEAR)
    return img.transpose(Image.FLIP_LEFT_RIGHT)


def hue(img, factor):
    if img.mode == "L":
        return img
    h, s, v = img.convert("HSV").split()
    turned = np.array(h, dtype=np.uint8)
    turned += np.array(int(factor * 255)).astype(np.uint8)
    return Image.merge("HSV", (Image.fromarray(turned), s, v)).convert("RGB")


def affine(img, matrix, filter, fill):
    fill = tuple(fill) if len(fill) > 1 else fill[0]
    return img.transform(img.size, Image.AFFINE, matrix, Image.Resampling[filter.upper()], fillcolor=fill)


def affine16(img, matrix, filter, fill):
    deep = np.asarray(img)[..., 0].astype(np.int32) + 256 * np.asarray(img)[..., 1].astype(np.int32)
    wide = Image.fromarray(deep, "I")
    if filter == "nearest":
        wide = Image.fromarray(deep.astype(np.uint16))
    out = affine(wide, matrix, filter, fill)
    return np.clip(np.asarray(out), 0, 65535).astype("<u2")


def pad(img, left, top, right, bottom, mode, fill):
    if mode == "constant":
        return ImageOps.expand(img, (left, top, right, bottom), tuple(fill) if len(fill) > 1 else fill[0])
    pixels = np.asarray(img)
    widths = [(top, bottom), (left, right), (0, 0)][: pixels.ndim]
    return Image.fromarray(np.pad(pixels, widths, mode))


def rotate(img, angle, filter, expand, center, fill):
    fill = tuple(fill) if len(fill) > 1 else fill[0]
    return img.rotate(angle, Image.Resampling[filter.upper()], expand, center, fillcolor=fill)


def blur(img, w, h, sigma):
    """The definition, in double: numbers at the border of two levels may come out 1 off."""

    def kernel(n):
        pdf = np.exp(-0.5 * (np.arange(-(n // 2), n // 2 + 1) / sigma) ** 2)
        return pdf / pdf.sum()

    pixels = np.asarray(img).astype(np.float64)
    pixels = np.pad(pixels, [(h // 2, h // 2), (w // 2, w // 2), (0, 0)][: pixels.ndim], "reflect")
    rows = sum(k * pixels[i : pixels.shape[0] - h + 1 + i] for i, k in enumerate(kernel(h)))
    sums = sum(k * rows[:, i : rows.shape[1] - w + 1 + i] for i, k in enumerate(kernel(w)))
    return np.rint(sums).astype(np.uint8)


def gray(img):
    grey = img.convert("L")
    return Image.merge("RGB", (grey,) * 3) if img.mode == "RGB" else grey


def torchvision_op(name):
    from torchvision.transforms import functional as F

    if name == "eval":
        from torchvision.transforms._presets import ImageClassification

        return lambda img, size, shorter: ImageClassification(crop_size=size, resize_size=shorter)(img).numpy()
    if name == "gray":
        return lambda img: F.to_grayscale(img, len(img.getbands()))
    if name == "blur":
        return lambda img, w, h, sigma: F.gaussian_blur(img, [w, h], [sigma, sigma])
    if name in ("invert", "posterize", "solarize", "autocontrast", "equalize"):
        return getattr(F, name)
    if name == "auto":
        from torchvision.transforms.autoaugment import _apply_op

        def automatic(img, op, magnitude, filter, fill):
            return _apply_op(img, op, magnitude, F.InterpolationMode(filter), fill)

        return automatic
    if name == "center_crop":
        return lambda img, h, w: F.center_crop(img, [h, w])
    return getattr(F, "adjust_" + name)


OPS = {
    "shorter_center": shorter_center,
    "crop_resize_flip": crop_resize_flip,
    "brightness": lambda img, f: ImageEnhance.Brightness(img).enhance(f),
    "contrast": lambda img, f: ImageEnhance.Contrast(img).enhance(f),
    "saturation": lambda img, f: ImageEnhance.Color(img).enhance(f),
    "hue": hue,
    "sharpness": lambda img, f: ImageEnhance.Sharpness(img).enhance(f),
    "invert": ImageOps.invert,
    "posterize": ImageOps.posterize,
    "solarize": ImageOps.solarize,
    "autocontrast": ImageOps.autocontrast,
    "equalize": ImageOps.equalize,
    "gray": gray,
    "blur": blur,
    "affine": affine,
    "affine16": affine16,
    "pad": pad,
    "rotate": rotate,
    "vflip": lambda img: img.transpose(Image.FLIP_TOP_BOTTOM),
}

for job in json.load(sys.stdin):
    h, w, c = job["shape"]
    pixels = np.fromfile(job["in"], dtype=np.uint8).reshape((h, w, c) if c > 1 else (h, w))
    name = job["op"]
    op = torchvision_op(name[3:]) if name.startswith("tv_") else OPS[name]
    np.asarray(op(Image.fromarray(pixels), *job["args"])).tofile(job["out"])
