"""Random pipelines: whichever transforms are native, the pixels are torchvision's."""

from __future__ import annotations

import random

import numpy as np
import pytest
from dsconv import transforms as T

torch = pytest.importorskip("torch")
pytest.importorskip("torchvision")
Image = pytest.importorskip("PIL.Image")

from torchvision import transforms as v1  # noqa: E402
from torchvision.transforms import v2  # noqa: E402

MODES = [v1.InterpolationMode.BILINEAR, v1.InterpolationMode.BICUBIC, v1.InterpolationMode.NEAREST]
CONVERSIONS = ("ToTensor", "PILToTensor", "ToImage")
# On tensors torchvision's pixels may differ by one level, which later transforms can enlarge.
CLOSE_ON_TENSORS = {"Resize", "Grayscale", "RandomAutocontrast", "RandomAdjustSharpness"}


def any_transform(rng: random.Random) -> object:
    """A transform that draws nothing, or always the same values."""
    library = rng.choice([v1, v2])

    def always(low, high):  # torch draws float32
        return (float(np.float32(rng.uniform(low, high))),) * 2

    make = rng.choice(
        [
            lambda: library.Resize(rng.randint(8, 90), rng.choice(MODES)),
            lambda: library.Resize((rng.randint(8, 90), rng.randint(8, 90))),
            lambda: library.CenterCrop(rng.randint(8, 130)),
            lambda: library.RandomHorizontalFlip(1.0),
            lambda: library.RandomVerticalFlip(1.0),
            lambda: library.RandomRotation(
                always(-180, 180), expand=rng.random() < 0.5, fill=rng.choice([0, [1, 2, 3]])
            ),
            lambda: library.ColorJitter(brightness=always(0.1, 2)),
            lambda: library.ColorJitter(hue=always(-0.5, 0.5)),
            lambda: library.Grayscale(rng.choice([1, 3, 3])),
            lambda: library.RandomPosterize(rng.randint(1, 8), 1.0),
            lambda: library.RandomSolarize(rng.randint(0, 255), 1.0),
            lambda: library.RandomEqualize(1.0),
            lambda: library.RandomAutocontrast(1.0),
            lambda: library.RandomAdjustSharpness(2, 1.0),
            lambda: library.RandomApply([library.RandomInvert(1.0), library.RandomHorizontalFlip(1.0)], p=1.0),
            lambda: library.Compose([library.RandomVerticalFlip(1.0)]),
            lambda: library.RandomErasing(0.0),
            lambda: library.PILToTensor(),
            lambda: v2.ToImage(),
            lambda: v2.ToPureTensor(),
            lambda: v2.ToDtype(torch.float32, scale=rng.random() < 0.7),
            lambda: v2.ToDtype(torch.uint8, scale=True),
            lambda: library.ConvertImageDtype(torch.float32),
            lambda: library.Normalize((0.4, 0.5, 0.6), (0.2, 0.3, 0.4)),
            lambda: v2.Normalize([120.0], [50.0]),
            lambda: v1.ToTensor(),
            lambda: library.ToPILImage(),
            lambda: v2.Identity(),
            lambda: lambda image: image,
        ]
    )
    return make()


def any_pipeline(rng: random.Random) -> list[object]:
    ts = [any_transform(rng) for _ in range(rng.randint(1, 7))]
    if rng.random() < 0.6:
        ts.insert(rng.randint(0, len(ts)), v2.ToImage())
        ts += [v2.ToDtype(torch.float32, scale=True), v2.Normalize((0.4, 0.5, 0.6), (0.2, 0.3, 0.4))]
    return ts


def close(ts: list[object]) -> bool:
    names = [type(t).__name__ for t in ts]
    first = min((names.index(c) for c in CONVERSIONS if c in names), default=len(names))
    return bool(CLOSE_ON_TENSORS & set(names[first:]))


@pytest.mark.parametrize("seed", range(6))
def test_any_pipeline(seed):
    rng = random.Random(seed)
    native = 0
    for _ in range(60):
        ts = any_pipeline(rng)
        pixels = np.random.default_rng(rng.randrange(99)).integers(0, 256, (70, 90, 3), dtype=np.uint8)
        image = Image.fromarray(pixels).resize((rng.randint(20, 120), rng.randint(20, 120)))
        try:
            want = v1.Compose(ts)(image)
        except Exception:  # they don't go together: ours need not either
            continue
        if close(ts):
            continue
        got, plan = T.Compose(ts)(image), T.translate(ts)
        native += plan.rest is None and plan.words != ""
        a, b = np.asarray(got), np.asarray(want)
        assert a.shape == b.shape and a.dtype == b.dtype, ts
        most = 0 if a.dtype == np.uint8 else 1e-5 * max(1, np.abs(b).max())
        assert np.abs(a.astype(float) - b.astype(float)).max() <= most, (ts, plan)
    assert native >= 3
