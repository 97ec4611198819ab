"""The translation of torchvision's pipelines: what is native, what runs in Python, and why."""

from __future__ import annotations

import pickle

import pytest
from dsconv import transforms as T

torch = pytest.importorskip("torch")
torchvision = pytest.importorskip("torchvision")

from torchvision import transforms as v1  # noqa: E402
from torchvision.transforms import v2  # noqa: E402

MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
MODE = v1.InterpolationMode
FLOATS = [v2.ToDtype(torch.float32, scale=True), v2.Normalize(MEAN, STD)]

NATIVE = {
    "train v1": (
        v1.Compose([v1.RandomResizedCrop(224), v1.RandomHorizontalFlip(), v1.ToTensor(), v1.Normalize(MEAN, STD)]),
        ("rrc:224,flip,normalize", "float32", "tensor"),
    ),
    "train v2": (
        v2.Compose([v2.ToImage(), v2.RandomResizedCrop(224, antialias=True), v2.RandomHorizontalFlip(), *FLOATS]),
        ("rrc:224,flip,normalize", "float32", "tv_tensor"),
    ),
    "reference": (
        v2.Compose(
            [
                v2.RandomResizedCrop(176, interpolation=MODE.BICUBIC),
                v2.RandomHorizontalFlip(0.3),
                v2.TrivialAugmentWide(interpolation=MODE.BILINEAR),
                v2.PILToTensor(),
                *FLOATS,
                v2.RandomErasing(0.1),
                v2.ToPureTensor(),
            ]
        ),
        ("rrc:176:bicubic,flip:0.3,trivialaugment:bilinear:v2,normalize,erase:0.1", "float32", "tensor"),
    ),
    "weights": (
        torchvision.models.ResNet50_Weights.DEFAULT.transforms(),
        ("resize:232,centercrop:224,normalize", "float32", "tensor"),
    ),
    "nested": (
        [v1.Compose([v1.Compose([v1.Resize(9)])]), torch.nn.Sequential(v1.RandomInvert(), torch.nn.Identity())],
        ("resize:9,invert", None, "pil"),
    ),
    "single": (v1.GaussianBlur((3, 5), (1, 2)), ("blur:3x5:sigma=1-2", None, "pil")),
    "words of v1": (
        [
            v1.RandomCrop(32, padding=[1, 2], fill=(1, 2, 3)),
            v1.RandomRotation((1, 2), expand=True, fill=7),
            v1.ColorJitter(0.1, (0.5, 1.2), 0, (-0.1, 0.2)),
            v1.RandomApply([v1.ColorJitter(0.4), v1.RandomVerticalFlip(1.0)], p=0.8),
            v1.RandomGrayscale(),
            v1.Grayscale(3),
            v1.RandomAdjustSharpness(2),
            v1.RandomPosterize(3, 0.1),
            v1.RandomSolarize(128),
            v1.RandomAutocontrast(),
            v1.RandomEqualize(),
            v1.RandAugment(3, 5, 11, MODE.BILINEAR, fill=[4]),
        ],
        (
            "crop:32:pad=1/2:fill=1/2/3,rotate:1/2:expand:fill=7,jitter:0.1:0.5/1.2:0:-0.1/0.2,"
            "apply:0.8:jitter:0.4:0:0+vflip:1,gray:0.1,gray,sharpness:2,posterize:3:0.1,solarize:128,autocontrast,"
            "equalize,randaugment:ops=3:magnitude=5:bins=11:bilinear:fill=4",
            None,
            "pil",
        ),
    ),
    "words of v2": (
        [v2.RandomCrop(32, padding=[1, 2, 3, 4], pad_if_needed=True, padding_mode="reflect"), v2.RandAugment()],
        ("crop:32:pad=1/2/3/4:grow:reflect,randaugment:v2", None, "pil"),
    ),
    "crop after ToTensor": (
        [v1.ToTensor(), v1.RandomCrop(32, padding=4), v1.RandomHorizontalFlip(), v1.Normalize(MEAN, STD)],
        ("crop:32:pad=4,flip,normalize", "float32", "tensor"),
    ),
    "crop after Normalize": (
        [v1.Resize(256), v1.ToTensor(), v1.Normalize(MEAN, STD), v1.CenterCrop(224), v1.RandomVerticalFlip()],
        ("resize:256,centercrop:224,vflip,normalize", "float32", "tensor"),
    ),
    "exact on tensors": (
        [v2.ToImage(), v2.RandomEqualize(), v2.RandomPosterize(3), v2.RandomCrop(9, padding_mode="edge"), v2.Resize(8)],
        ("equalize,posterize:3,crop:9,resize:8", "uint8", "tv_tensor"),
    ),
    "erasing before Normalize": (
        [v1.ToTensor(), v1.RandomErasing(1, value=1), v1.Normalize([0.5], [0.25])],
        ("normalize:0.5:0.25,erase:1:value=2", "float32", "tensor"),
    ),
    "levels": (
        [v2.ToImage(), v2.ToDtype(torch.float32), v2.Normalize([127.5], [51])],
        ("normalize:0.5:0.2", "float32", "tv_tensor"),
    ),
    "mixing": (
        [v2.CenterCrop(8), v2.ToImage(), *FLOATS, v2.RandomChoice([v2.MixUp(alpha=0.2), v2.CutMix(num_classes=3)])],
        ("centercrop:8,normalize,mixup:0.2,cutmix:1", "float32", "tv_tensor"),
    ),
    "brightness of tensors": (
        [v2.ToImage(), v2.CenterCrop(9), v2.ColorJitter(0.4), *FLOATS],
        ("centercrop:9,jitter:0.4:0:0,normalize", "float32", "tv_tensor"),
    ),
    "darker after a resize": (
        [v1.PILToTensor(), v2.RandomResizedCrop(8), v1.RandomApply([v1.ColorJitter((0.2, 1))])],
        ("rrc:8,apply:0.5:jitter:0.2/1:0:0", "uint8", "tensor"),
    ),
    "ours among theirs": (
        [T.RandomResizedCrop(8), v1.ToTensor(), v1.Normalize(MEAN, STD), T.CutMix()],
        ("rrc:8,normalize,cutmix:1", "float32", "tensor"),
    ),
}


@pytest.mark.parametrize("name", NATIVE)
def test_native(name):
    transforms, want = NATIVE[name]
    plan = T.translate(transforms)
    assert (plan.words, plan.dtype, plan.kind) == want
    assert plan.rest is None and plan.named == () and plan.notes == ()


class OwnFlip(v2.RandomHorizontalFlip):
    """A user's subclass, which may do anything."""


def own(image):
    return image


PYTHON = {
    "function": ([v1.Resize(8), own, v1.ToTensor()], ("resize:8", None, "pil"), ("own", "ToTensor"), "no native"),
    "subclass": (OwnFlip(), ("", None, "pil"), ("OwnFlip",), "no native"),
    "AutoAugment": (v2.AutoAugment(), ("", None, "pil"), ("AutoAugment",), "no native"),
    "RandomChoice": (
        v2.RandomChoice([v2.RandomInvert(), v2.Grayscale(3)]),
        ("", None, "pil"),
        ("RandomChoice",),
        "choice",
    ),
    "RandomApply of a function": (v1.RandomApply([own]), ("", None, "pil"), ("RandomApply",), "own"),
    "colour on tensors": (
        [v2.ToImage(), v2.CenterCrop(9), v2.ColorJitter(0.1, 0.1), *FLOATS],
        ("centercrop:9", "uint8", "tv_tensor"),
        ("ColorJitter", "ToDtype", "Normalize"),
        "torchvision computes contrast by another formula, so that colours differ; the native op gives "
        "the pixels of PIL images: to run it natively, put it before ToImage",
    ),
    "hue on tensors": (
        [v2.ToImage(), v2.ColorJitter(0.1, 0, 0.2, 0.1)],
        ("", "uint8", "tv_tensor"),
        ("ColorJitter",),
        "computes saturation and hue by another formula, so that colours differ",
    ),
    "brighter than a resize": (
        [v2.ToImage(), v2.RandomResizedCrop(9), v2.ColorJitter(0.1)],
        ("rrc:9", "uint8", "tv_tensor"),
        ("ColorJitter",),
        "before it may differ by one level on tensors, and it may enlarge that",
    ),
    "changes of tensors by chance": (
        [v2.ToImage(), v2.TrivialAugmentWide(), *FLOATS],
        ("", "uint8", "tv_tensor"),
        ("TrivialAugmentWide", "ToDtype", "Normalize"),
        "pixels may differ much",
    ),
    "two resizes of tensors": (
        [v2.ToImage(), v2.Resize(9), v2.Resize(8)],
        ("resize:9", "uint8", "tv_tensor"),
        ("Resize",),
        "differ by one level",
    ),
    "bicubic on tensors": ([v2.ToImage(), v2.Resize(9, 3)], ("", "uint8", "tv_tensor"), ("Resize",), "bilinear"),
    "no antialias": (
        [v2.ToImage(), v2.Resize(9, antialias=False)],
        ("", "uint8", "tv_tensor"),
        ("Resize",),
        "antialias",
    ),
    "resize of floats": ([v1.ToTensor(), v1.Resize(9)], ("", "float32", "tensor"), ("Resize",), "floats"),
    "padding after Normalize": (
        [v1.ToTensor(), v1.Normalize(MEAN, STD), v1.RandomCrop(8, 4)],
        ("normalize", "float32", "tensor"),
        ("RandomCrop",),
        "normalised",
    ),
    "small images after Normalize": (
        [v1.ToTensor(), v1.Normalize(MEAN, STD), v1.CenterCrop(8)],
        ("normalize", "float32", "tensor"),
        ("CenterCrop",),
        "zeros",
    ),
    "levels alone": ([v2.ToImage(), v2.ToDtype(torch.float32)], ("", "uint8", "tv_tensor"), ("ToDtype",), "scale"),
    "half": (
        [v2.ToImage(), v2.ToDtype(torch.float16, scale=True)],
        ("", "uint8", "tv_tensor"),
        ("ToDtype",),
        "dtype='float16'",
    ),
    "normalize of uint8": (
        [v2.ToImage(), v2.Normalize(MEAN, STD)],
        ("", "uint8", "tv_tensor"),
        ("Normalize",),
        "floats",
    ),
    "erase, then flip": (
        [v1.ToTensor(), v1.RandomErasing(), v1.RandomHorizontalFlip()],
        ("erase", "float32", "tensor"),
        ("RandomHorizontalFlip",),
        "last",
    ),
    "noise, then Normalize": (
        [v1.ToTensor(), v1.RandomErasing(value="random"), v1.Normalize(MEAN, STD)],
        ("erase:value=random", "float32", "tensor"),
        ("Normalize",),
        "noise",
    ),
    "fractions of fill": (v1.RandomRotation(9, fill=0.5), ("", None, "pil"), ("RandomRotation",), "whole"),
    "fill for each type": (
        v2.RandomRotation(9, fill={torchvision.tv_tensors.Image: 3}),
        ("", None, "pil"),
        ("RandomRotation",),
        "fill",
    ),
    "mirrored padding": (
        v1.RandomCrop(8, 2, pad_if_needed=True, padding_mode="reflect"),
        ("", None, "pil"),
        ("RandomCrop",),
        "mirrors",
    ),
    "longer side": (v2.Resize(None, max_size=10), ("", None, "pil"), ("Resize",), "None"),
    "one channel": ([v1.Grayscale(), v1.ToTensor()], ("", None, "pil"), ("Grayscale", "ToTensor"), "channels"),
}


@pytest.mark.parametrize("name", PYTHON)
def test_python(name):
    transforms, want, named, why = PYTHON[name]
    plan = T.translate(transforms)
    assert (plan.words, plan.dtype, plan.kind) == want
    assert plan.named == named and len(plan.notes) == 1 and why in plan.notes[0]
    assert pickle.loads(pickle.dumps(plan)).words == plan.words


def test_rest_runs_on_the_right_kind():
    seen = []

    def look(image):
        seen.append(type(image).__name__)
        return image

    import numpy as np
    from PIL import Image

    image = Image.fromarray(np.zeros((9, 9, 3), np.uint8))
    for before in ([], [v1.PILToTensor()], [v1.ToTensor()], [v2.ToImage()], [v2.ToImage(), v2.ToPureTensor()]):
        out = T.Compose([*before, look])(image)
        assert type(out) is type(v2.Compose([*before, look])(image))
    assert seen[::2] == seen[1::2] == ["Image", "Tensor", "Tensor", "Image", "Tensor"]


def test_mixing_needs_batches():
    with pytest.raises(ValueError, match="as the last of the transforms"):
        T.translate([v2.RandomApply([v2.MixUp(num_classes=3)])])
    with pytest.raises(ValueError, match="Lambda comes after RandomChoice.*must come last"):
        T.translate([own, v2.RandomChoice([v2.MixUp(num_classes=3)]), v2.Lambda(own)])
    with pytest.raises(ValueError, match="as the last of the transforms"):
        T.translate([own, type("Own", (v2.MixUp,), {})(num_classes=3)])
    with pytest.raises(ValueError, match="no other transforms"):
        T.translate([v2.RandomChoice([v2.MixUp(num_classes=3), v2.Identity()])])
    with pytest.raises(ValueError, match="labels_getter"):
        T.translate([v2.MixUp(num_classes=3, labels_getter=lambda batch: batch[1])])
    with pytest.raises(ValueError, match="equal weights"):
        T.translate([v2.RandomChoice([v2.MixUp(num_classes=3), v2.CutMix(num_classes=3)], p=[0.1, 0.9])])


class Preset:
    """Like the presets of torchvision's scripts."""

    def __init__(self):
        self.transforms = v1.Compose([v1.CenterCrop(8), v1.ToTensor()])

    def __call__(self, image):
        return self.transforms(image)


def test_the_note_for_a_preset_says_what_to_give():
    plan = T.translate(Preset())
    assert plan.named == ("Preset",) and ".transforms" in plan.notes[0]
    assert T.translate(Preset().transforms).rest is None
