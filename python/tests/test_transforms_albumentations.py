"""The translation of Albumentations' pipelines, and their pixels."""

from __future__ import annotations

import itertools
import pickle

import numpy as np
import pytest
from dsconv import transforms as T

A = pytest.importorskip("albumentations")
torch = pytest.importorskip("torch")

from albumentations.pytorch import ToTensorV2  # noqa: E402
from dsconv.transforms.run_on_image import run_on_image  # noqa: E402

PIXELS = np.random.default_rng(4).integers(0, 256, (61, 84, 3), dtype=np.uint8)
OPENCV = "dsconv.transforms."

TABLE = {
    "native": (
        [A.HorizontalFlip(), A.RandomCrop(9, 8), A.Normalize(), ToTensorV2()],
        ("flip,crop:8x9,normalize", "float32", "tensor"),
        (),
    ),
    "array": (
        [A.NoOp(), A.VerticalFlip(p=0.2), A.Normalize(0.5, 0.25)],
        ("vflip:0.2,normalize:0.5:0.25", "float32", "array"),
        (),
    ),
    "floats": (
        [A.CenterCrop(8, 9), A.ToFloat(255), A.HorizontalFlip()],
        ("centercrop:9x8:floor,flip", "float32", "array"),
        (),
    ),
    "bytes": ([A.InvertImg(p=1), ToTensorV2()], ("invert:1", "uint8", "tensor"), ()),
    "resize": (
        [A.HorizontalFlip(), A.RandomResizedCrop((8, 8)), A.Normalize(), ToTensorV2()],
        ("flip", None, "array"),
        ("RandomResizedCrop", "Normalize", "ToTensorV2"),
    ),
    "color": ([A.RandomCrop(8, 8), A.ColorJitter()], ("crop:8", None, "array"), ("ColorJitter",)),
    "chance": ([A.RandomCrop(8, 8, p=0.5)], ("", None, "array"), ("RandomCrop",)),
    "padded": ([A.CenterCrop(80, 80, pad_if_needed=True)], ("", None, "array"), ("CenterCrop",)),
    "statistics": ([A.Normalize(normalization="image")], ("", None, "array"), ("Normalize",)),
    "twice": ([A.ToFloat(255), A.Normalize()], ("", "float32", "array"), ("Normalize",)),
    "one of": ([A.OneOf([A.HorizontalFlip(p=1), A.VerticalFlip(p=1)])], ("", None, "array"), ("OneOf",)),
}


@pytest.mark.parametrize("name", TABLE)
def test_translation(name):
    transforms, want, named = TABLE[name]
    plan = T.translate(A.Compose(transforms))
    assert (plan.words, plan.dtype, plan.kind) == want
    assert plan.named == named and (plan.rest is None) == (named == ())
    assert len(plan.notes) == bool(named)
    pickle.loads(pickle.dumps(plan))


def test_notes_name_the_native_transform():
    for t in (A.RandomResizedCrop((8, 8)), A.Resize(8, 8), A.ColorJitter()):
        assert OPENCV in T.translate(A.Compose([t])).notes[0]


def test_a_compose_with_a_probability_runs_in_python():
    compose = A.Compose([A.HorizontalFlip(p=1)], p=0.5)
    plan = T.translate(compose)
    assert plan.words == "" and plan.named == ("albumentations.Compose",)
    assert {plan.rest(PIXELS)[0, 0].tobytes() for _ in range(40)} == {PIXELS[0, 0].tobytes(), PIXELS[0, -1].tobytes()}


FIXED = [
    [A.HorizontalFlip(p=1), A.VerticalFlip(p=1)],
    [A.CenterCrop(50, 51)],
    [A.CenterCrop(60, 83), A.VerticalFlip(p=1), A.Normalize()],
    [A.CenterCrop(58, 81), A.Normalize((0.5, 0.4, 0.3), (0.3, 0.2, 0.1)), ToTensorV2()],
    [A.ToFloat(255), A.HorizontalFlip(p=1), ToTensorV2()],
    [A.InvertImg(p=1), ToTensorV2()],
    [A.HorizontalFlip(p=1), A.Resize(30, 40), A.Normalize(), ToTensorV2()],
]


@pytest.mark.parametrize("transforms", FIXED)
def test_pixels(transforms):
    compose = A.Compose(transforms)
    for height, width in itertools.product((60, 61), (83, 84)):
        pixels = PIXELS[:height, :width]
        got, want = run_on_image(T.translate(compose), pixels), compose(image=pixels)["image"]
        assert type(got) is type(want) and got.shape == want.shape and got.dtype == want.dtype
        assert abs(np.asarray(got, float) - np.asarray(want, float)).max() < 1e-5


def test_random_crop_draws_all_offsets():
    compose = A.Compose([A.RandomCrop(58, 84)])
    rows = {run_on_image(T.translate(compose), PIXELS).tobytes() for _ in range(80)}
    assert rows == {PIXELS[y : y + 58].tobytes() for y in range(4)}
