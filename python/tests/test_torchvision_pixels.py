"""Compares native transforms with torchvision's on PIL images, for the same random parameters: equal levels
if pixels move, at most one level of difference if colours change."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from dsconv import transforms as T
from dsconv._native_transform import NativeTransform as Transform

torch = pytest.importorskip("torch")
pytest.importorskip("torchvision")
Image = pytest.importorskip("PIL.Image")

from torchvision import transforms as v1  # noqa: E402
from torchvision.transforms import v2  # noqa: E402
from torchvision.transforms.v2 import functional as F  # noqa: E402

MODE = v1.InterpolationMode
MODES = [MODE.NEAREST, MODE.BOX, MODE.BILINEAR, MODE.HAMMING, MODE.BICUBIC, MODE.LANCZOS]
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def photo(height, width, seed):
    """Soft shapes, an edge and noise, as in photographs."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[:height, :width] / 40
    waves = [np.sin(rng.uniform(0.3, 2) * x + rng.uniform(0.3, 2) * y + k) for k in range(3)]
    levels = 120 + 90 * np.stack(waves, -1) + 60 * (x > y)[..., None] + rng.normal(0, 12, (height, width, 3))
    return Image.fromarray(levels.clip(0, 255).astype(np.uint8))


PHOTOS = [photo(h, w, i) for i, (h, w) in enumerate([(90, 120), (121, 83), (64, 64), (40, 151)])]


def difference(a, b):
    """The largest difference of two images of one size, in levels."""
    a, b = np.asarray(a).astype(int), np.asarray(b).astype(int)
    assert a.shape == b.shape
    return np.abs(a - b).max()


FIXED = {
    "resize": [v2.Resize(size, m) for size in (37, (50, 61), (200, 30)) for m in MODES],
    "resize v1": [v1.Resize(50, max_size=60), v1.Resize([90, 100], MODE.NEAREST_EXACT)],
    "center crop": [v2.CenterCrop(size) for size in (31, (33, 70), (150, 170))],
    "flips": [v2.RandomHorizontalFlip(1), v2.RandomVerticalFlip(1), v1.RandomHorizontalFlip(0)],
    "rotate": [
        v2.RandomRotation((a, a), m, expand=e, fill=f)
        for a, m, e, f in itertools.product(
            (0, 17.5, 90, -100, 180, 270), (MODE.NEAREST, MODE.BILINEAR, MODE.BICUBIC), (False, True), (0, [9, 200, 3])
        )
    ],
    "rotate about": [v1.RandomRotation((33, 33), m, center=c) for m in MODES[:3:2] for c in ([0, 0], [10.5, 40])],
    "pad": [
        v2.RandomCrop((200, 210), [50, 80], True, fill=(3, 2, 1), padding_mode=m)
        for m in ("constant", "edge", "reflect", "symmetric")
    ],
}


@pytest.mark.parametrize("name", FIXED)
def test_geometry_is_equal(name):
    for t, image in itertools.product(FIXED[name], PHOTOS):
        plan = T.translate(t)
        assert plan.rest is None
        want = t(image)
        if name == "pad":  # and then crop anywhere: what matters is what is there
            step = Transform(plan.words).plan(image.height, image.width)[-1]
            want = padded_and_cropped(t, image, step)
        assert difference(T.Compose([t])(image) if name != "pad" else native(plan, image), want) == 0, (t, image.size)


def native(plan, image, seed=0):
    return Transform(plan.words)(np.asarray(image), seed=seed)


def padded_and_cropped(t, image, step):
    left, right, top, bottom = t.padding
    x = max(0, t.size[1] - image.width - left - right)
    y = max(0, t.size[0] - image.height - top - bottom)
    image = F.pad(image, [left + x, top + y, right + x, bottom + y], fill=[3, 2, 1], padding_mode=t.padding_mode)
    if step["step"] != "crop":
        return image
    return F.crop(image, step["part"][1], step["part"][0], *t.size)


def factors(low, high):
    return np.random.default_rng(1).uniform(low, high, 12).tolist()


COLORS = {
    "brightness": [v2.ColorJitter(brightness=(f, f)) for f in factors(0.01, 3)],
    "contrast": [v2.ColorJitter(contrast=(f, f)) for f in factors(0.01, 3)],
    "saturation": [v1.ColorJitter(saturation=(f, f)) for f in factors(0.01, 3)],
    "hue": [v2.ColorJitter(hue=(f, f)) for f in factors(-0.5, 0.5)],
    "sharpness": [v2.RandomAdjustSharpness(f, 1) for f in factors(0, 3)],
    "blur": [v2.GaussianBlur(k, (s, s)) for k, s in zip([3, 5, [3, 9], 23] * 3, factors(0.1, 4))],
    "levels": [
        *(v2.RandomPosterize(b, 1) for b in range(1, 9)),
        *(v2.RandomSolarize(x, 1) for x in (0, 100, 127.5, 255, 256)),
    ],
    "whole": [
        v2.Grayscale(3),
        v1.RandomGrayscale(1),
        v2.RandomInvert(1),
        v2.RandomAutocontrast(1),
        v2.RandomEqualize(1),
    ],
}


@pytest.mark.parametrize("name", COLORS)
def test_colours_differ_by_at_most_one_level(name):
    most = 1 if name == "blur" else 0
    for t, image in itertools.product(COLORS[name], PHOTOS[:2]):
        assert difference(T.Compose([t])(image), t(image)) <= most, (t, image.size)
    gray = PHOTOS[0].convert("L")
    for t in COLORS[name]:
        if not isinstance(t, v2.Grayscale):
            assert difference(T.Compose([t])(gray), t(gray)) <= most, (t, "grey")


MODE_OF = {m.value: m for m in MODES}
REPLAY = {
    "crop": lambda im, s: F.crop(im, s["part"][1], s["part"][0], s["part"][3], s["part"][2]),
    "resize": lambda im, s: F.resize(im, s["size"], MODE_OF[s["filter"]]),
    "flip": lambda im, s: F.hflip(im),
    "vflip": lambda im, s: F.vflip(im),
    "brightness": lambda im, s: F.adjust_brightness(im, s.get("amount", 0)),
    "contrast": lambda im, s: F.adjust_contrast(im, s.get("amount", 0)),
    "saturation": lambda im, s: F.adjust_saturation(im, s.get("amount", 0)),
    "hue": lambda im, s: F.adjust_hue(im, s.get("amount", 0)),
    "sharpen": lambda im, s: F.adjust_sharpness(im, s.get("amount", 0)),
    "blur": lambda im, s: F.gaussian_blur(im, s["size"][::-1], [s["amount"]] * 2),
    "gray": lambda im, s: F.rgb_to_grayscale(im, 3),
    "invert": lambda im, s: F.invert(im),
    "equalize": lambda im, s: F.equalize(im),
}


@pytest.mark.parametrize(
    ("transforms", "most"),
    [
        ([v2.RandomResizedCrop((50, 60)), v2.RandomHorizontalFlip()], 0),
        ([v2.RandomVerticalFlip(), v2.RandomResizedCrop(70, (0.01, 0.2), (0.2, 5), MODE.BICUBIC)], 0),
        ([v2.RandomHorizontalFlip(), v2.RandomCrop(40), v2.Resize((64, 30), MODE.LANCZOS), v2.RandomCrop(20)], 0),
        ([v1.RandomResizedCrop(48), v1.ColorJitter(0.4, 0.4, 0.4, 0.1), v1.RandomHorizontalFlip()], 1),
        ([v1.RandomApply([v1.ColorJitter((0.2, 1.9), 0.3, (0.1, 2), (-0.2, 0.4)), v1.RandomInvert(0.5)], 0.8)], 1),
        ([v2.RandomGrayscale(0.5), v2.RandomEqualize(), v2.RandomAdjustSharpness(2), v2.RandomCrop(30)], 1),
        ([v2.GaussianBlur(5), v2.RandomHorizontalFlip(), v2.RandomInvert()], 1),
    ],
)
def test_random_parameters(transforms, most):
    """torchvision repeats the native transform with the parameters that it has drawn."""
    plan = T.translate(transforms)
    assert plan.rest is None
    t, outcomes = Transform(plan.words), set()
    for image, seed in itertools.product(PHOTOS, range(12)):
        got, want = t(np.asarray(image), seed=seed), image
        steps = t.plan(image.height, image.width, seed)
        for step in steps:
            want = REPLAY[step["step"]](want, step)
        assert difference(got, want) <= most, steps
        outcomes.add(str(steps))
    assert len(outcomes) > 3  # something was drawn


@pytest.mark.parametrize("library", [v1, v2])
@pytest.mark.parametrize("mode", [MODE.NEAREST, MODE.BILINEAR])
def test_trivial_augment(library, mode):
    """Each result is one of torchvision's, and most of torchvision's occur."""
    image, t = photo(48, 52, 9), library.TrivialAugmentWide(3, mode, fill=[5, 6, 7])
    possible = outcomes_of(t, image, 1000)
    t, came = Transform(T.translate(t).words), set()
    for seed in range(300):
        got = t(np.asarray(image), seed=seed)
        assert got.tobytes() in possible, t.plan(48, 52, seed)
        came.add(got.tobytes())
    assert len(came) > 0.8 * len(possible)


def outcomes_of(t, image, n):
    torch.manual_seed(3)
    return {np.asarray(t(image)).tobytes() for _ in range(n)}


@pytest.mark.parametrize("library", [v1, v2])
def test_rand_augment(library):
    image = photo(40, 44, 5)
    for magnitude in (4, 30):
        t = library.RandAugment(1, magnitude)
        possible = outcomes_of(t, image, 350)
        t = Transform(T.translate(t).words)
        got = {t(np.asarray(image), seed=seed).tobytes() for seed in range(250)}
        assert got <= possible and len(got) >= len(possible) - 1


PIPELINES = {
    "v1": [v1.Resize(60), v1.CenterCrop(56), v1.ToTensor(), v1.Normalize(MEAN, STD)],
    "v2": [
        v2.Resize(60),
        v2.CenterCrop(56),
        v2.ToImage(),
        v2.ToDtype(torch.float32, scale=True),
        v2.Normalize(MEAN, STD),
    ],
    "levels": [v2.CenterCrop(56), v2.PILToTensor(), v2.ToDtype(torch.float32), v2.Normalize([123.675] * 3, [58.4] * 3)],
    "crop after": [v1.Resize(60), v1.ToTensor(), v1.Normalize(MEAN, STD), v1.CenterCrop(50), v1.RandomVerticalFlip(1)],
    "padded floats": [v1.ToTensor(), v1.CenterCrop(140), v1.Normalize(MEAN, STD)],
    "python": [v1.Resize(60), v1.ToTensor(), v1.Resize(30), v1.Normalize(MEAN, STD)],
    "flip in python": [v1.Resize((60, 60)), lambda image: image.rotate(90), v1.CenterCrop(50), v1.ToTensor()],
}


@pytest.mark.parametrize("name", PIPELINES)
def test_pipelines(name):
    t = v1.Compose(PIPELINES[name])
    for image in PHOTOS:
        got, want = T.Compose([t])(image), t(image)
        assert got.dtype == want.dtype and got.shape == want.shape
        assert (got - want).abs().max() < 1e-5


def test_every_level_normalised():
    """float32 of every level, within a few units in the last place."""
    ramp = Image.fromarray(np.arange(256 * 3, dtype=np.uint32).astype(np.uint8).reshape(16, 16, 3))
    t = v1.Compose([v1.ToTensor(), v1.Normalize(MEAN, STD)])
    assert (T.Compose([t])(ramp) - t(ramp)).abs().max() <= 5e-7
    assert (T.Compose([v1.ToTensor()])(ramp) - v1.ToTensor()(ramp)).abs().max() <= 6e-8


@pytest.mark.parametrize("size", [56, (30, 90), (200, 150)])
@pytest.mark.parametrize("library", [v1, v2])
def test_resize_of_tensors_is_within_a_level(library, size):
    t = v2.Compose([v2.PILToTensor(), library.Resize(size, antialias=True), library.RandomHorizontalFlip(1)])
    plan = T.translate(t)
    assert plan.rest is None
    for image in PHOTOS:
        assert difference(T.Compose([t])(image), t(image)) <= 1


@pytest.mark.parametrize("library", [v1, v2])
def test_what_is_native_on_tensors(library):
    ops = [
        library.RandomInvert(1),
        library.RandomPosterize(3, 1),
        library.RandomSolarize(99, 1),
        library.RandomEqualize(1),
    ]
    crops = [library.CenterCrop(150), library.RandomVerticalFlip(1)]
    close = [library.Grayscale(3), library.RandomAutocontrast(1), library.RandomAdjustSharpness(1.7, 1)]
    for most, ts in ((0, ops + crops), (1, [*close, library.GaussianBlur(5, (1.2, 1.2))])):
        for t, image in itertools.product(ts, PHOTOS[:3]):
            pipeline = v2.Compose([v2.PILToTensor(), t])
            assert T.translate(pipeline).rest is None
            assert difference(T.Compose([pipeline])(image), pipeline(image)) <= most, t


def test_erasing():
    """Erasing before or after Normalize writes the same value into the same rectangle."""
    image = PHOTOS[0]
    for value, ts in (
        ((0.1, 0.2, 0.3), [v1.ToTensor(), v1.Normalize(MEAN, STD), v1.RandomErasing(1, value=(0.1, 0.2, 0.3))]),
        ((0.1, 0.2, 0.3), [v1.ToTensor(), v1.RandomErasing(1, value=(0.1, 0.2, 0.3)), v1.Normalize(MEAN, STD)]),
        ((10, 20, 30), [v1.PILToTensor(), v1.RandomErasing(1, value=(10, 20, 30))]),
    ):
        plan = T.translate(ts)
        t = Transform(plan.words, dtype=plan.dtype, layout="nchw")
        left, top, width, height = t.plan(image.height, image.width, 3)[-1]["part"]
        want = image
        for step in ts:
            if isinstance(step, v1.RandomErasing):
                want = F.erase(want, top, left, height, width, torch.tensor(value)[:, None, None])
            else:
                want = step(want)
        got = torch.from_numpy(t(np.asarray(image), seed=3))
        assert (got.double() - want.double()).abs().max() < 1e-5
