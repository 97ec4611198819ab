"""Compares the random draws of native transforms with torchvision's: the same distributions."""

from __future__ import annotations

import numpy as np
import pytest
from dsconv import transforms as T
from dsconv._native_transform import NativeTransform as Transform

torch = pytest.importorskip("torch")
pytest.importorskip("torchvision")

from torchvision import transforms as v1  # noqa: E402
from torchvision.transforms import v2  # noqa: E402

N, H, W = 2000, 120, 150
LIMIT = 2.23 * (2 / N) ** 0.5  # Kolmogorov and Smirnov's at a significance of 1e-4


def plans(transforms):
    t = Transform(T.translate(transforms).words)
    return [t.plan(H, W, seed) for seed in range(N)]


def distance(a, b):
    """The largest distance of two samples' distribution functions."""
    a, b = np.sort(a), np.sort(b)
    at = np.concatenate([a, b])
    return np.abs(np.searchsorted(a, at, "right") / len(a) - np.searchsorted(b, at, "right") / len(b)).max()


def assert_same_distribution(ours, theirs):
    for k, (a, b) in enumerate(zip(np.transpose(ours), np.transpose(theirs))):
        assert distance(a, b) < LIMIT, k


def part(plan, name):
    """left, top, width, height of the step of that name; the whole image if there is no such step."""
    return next((s["part"] for s in plan if s["step"] == name), [0, 0, W, H])


def amounts(plan):
    return {s["step"]: s.get("amount", 0) for s in plan}


def params(t, size):
    torch.manual_seed(7)
    image = torch.empty(3, *size)
    return [t.make_params([image]) for _ in range(N)]


@pytest.mark.parametrize(
    ("scale", "ratio"), [((0.08, 1), (3 / 4, 4 / 3)), ((0.3, 0.5), (0.7, 0.9)), ((0.5, 1), (2, 4))]
)
def test_random_resized_crop(scale, ratio):
    t = v2.RandomResizedCrop(9, scale, ratio)
    theirs = [(p["left"], p["top"], p["width"], p["height"]) for p in params(t, (H, W))]
    assert_same_distribution([part(p, "crop") for p in plans(t)], theirs)


def test_random_crop():
    t = v2.RandomCrop((70, 100), padding=(5, 0))
    ours = [[s["part"][:2] for s in p if s["step"] == "crop"][-1] for p in plans(t)]
    assert_same_distribution(ours, [(p["left"], p["top"]) for p in params(t, (H, W))])


def test_random_rotation():
    t = v1.RandomRotation((-20, 50))
    ours = [[np.degrees(np.arctan2(*p[0]["matrix"][3::-3]))] for p in plans(t)]
    torch.manual_seed(2)
    assert_same_distribution(ours, [[t.get_params(t.degrees)] for _ in range(N)])


def test_color_jitter():
    t = v2.ColorJitter((0.3, 0.9), 0.4, (1.5, 2.5), (-0.1, 0.3))
    names = ("brightness", "contrast", "saturation", "hue")
    all_of_them = plans(t)
    assert_same_distribution(
        [[amounts(p)[n] for n in names] for p in all_of_them],
        [[q[f"{n}_factor"] for n in names] for q in params(t, (H, W))],
    )
    orders = [tuple(s["step"] for s in p) for p in all_of_them]
    counts = [orders.count(o) for o in set(orders)]
    assert len(counts) == 24 and max(counts) < 2 * min(counts)


def test_blur():
    t = v2.GaussianBlur(3, (0.5, 1.5))
    assert_same_distribution([[p[0]["amount"]] for p in plans(t)], [q["sigma"][:1] for q in params(t, (H, W))])


def test_erasing():
    t = v2.RandomErasing(1, (0.1, 0.4), (0.5, 2))
    ours = [part(p, "erase") for p in plans([v2.PILToTensor(), t])]
    assert_same_distribution(ours, [(q["j"], q["i"], q["w"], q["h"]) for q in params(t, (H, W))])


@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
def test_probabilities(p):
    ts = [
        v2.RandomHorizontalFlip(p),
        v1.RandomInvert(p),
        v1.RandomApply([v1.RandomPosterize(3, 1.0)], p),
        v2.RandomGrayscale(p),
    ]
    drawn = plans(ts)
    for name in ("flip", "invert", "posterize", "gray"):
        share = np.mean([any(s["step"] == name for s in plan) for plan in drawn])
        assert abs(share - p) < 4 * (p * (1 - p) / N) ** 0.5, name
