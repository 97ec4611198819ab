"""dsconv.transforms without torchvision."""

from __future__ import annotations

import pickle
import subprocess
import sys

import numpy as np
import pytest
from dsconv import transforms as T

PIXELS = np.random.default_rng(0).integers(0, 256, (60, 80, 3), dtype=np.uint8)


@pytest.mark.parametrize(
    ("transform", "word"),
    [
        (T.RandomResizedCrop(224), "rrc:224"),
        (T.RandomResizedCrop((100, 200), (0.3, 1), (1, 2), "bicubic"), "rrc:200x100:scale=0.3-1:ratio=1-2:bicubic"),
        (T.RandomResizedCrop(8, scale=(1e-5, 1.0)), "rrc:8:scale=0.00001-1"),
        (T.Resize(256), "resize:256"),
        (T.Resize([256], max_size=300), "resize:256:max=300"),
        (T.Resize((30, 40), T.InterpolationMode.NEAREST_EXACT), "resize:40x30:nearest"),
        (T.CenterCrop((30, 40)), "centercrop:40x30"),
        (T.RandomCrop(32, 4, fill=(1, 2, 3)), "crop:32:pad=4:fill=1/2/3"),
        (T.RandomCrop(32, (1, 2, 3, 4), True, 7, "reflect"), "crop:32:pad=1/2/3/4:grow:reflect"),
        (T.RandomHorizontalFlip(), "flip"),
        (T.RandomVerticalFlip(0.25), "vflip:0.25"),
        (T.RandomRotation(15), "rotate:15"),
        (T.RandomRotation((-5, 10), 2, True, (3, 4.5), 9), "rotate:-5/10:bilinear:expand:center=3/4.5:fill=9"),
        (T.ColorJitter(0.4, 0.4, 0.4), "jitter:0.4"),
        (T.ColorJitter((0.6, 1.4), 0.2, (0, 3), (-0.1, 0.2)), "jitter:0.4:0.2:2:-0.1/0.2"),
        (T.ColorJitter((0.6, 1.5)), "jitter:0.6/1.5:0:0"),
        (T.Grayscale(3), "gray"),
        (T.RandomGrayscale(), "gray:0.1"),
        (T.GaussianBlur((3, 5), 1.5), "blur:3x5:sigma=1.5-1.5"),
        (T.RandomAdjustSharpness(2, 1), "sharpness:2:1"),
        (T.RandomPosterize(3), "posterize:3"),
        (T.RandomSolarize(128.5), "solarize:128.5"),
        (T.RandomInvert(), "invert"),
        (T.RandomAutocontrast(), "autocontrast"),
        (T.RandomEqualize(1), "equalize:1"),
        (T.TrivialAugmentWide(fill=(1, 2, 3)), "trivialaugment:fill=1/2/3"),
        (T.RandAugment(3, 5, 11, "bilinear"), "randaugment:ops=3:magnitude=5:bins=11:bilinear"),
        (T.RandomApply([T.Compose([T.ColorJitter(0.4)]), T.RandomInvert(1)], 0.8), "apply:0.8:jitter:0.4:0:0+invert:1"),
        (T.Normalize((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)), "normalize"),
        (T.Normalize(0.5, (0.25, 0.5, 1)), "normalize:0.5:0.25/0.5/1"),
        (T.RandomErasing(1, (0.1, 0.2), (1, 2), (1, 2, 3)), "erase:1:scale=0.1-0.2:ratio=1-2:value=1/2/3"),
        (T.RandomErasing(value="random"), "erase:value=random"),
        (T.MixUp(alpha=0.2), "mixup:0.2"),
        (T.RandomChoice([T.MixUp(), T.CutMix(alpha=0.5)]), "mixup:1,cutmix:0.5"),
    ],
)
def test_ops(transform, word):
    assert transform.word() == word
    assert pickle.loads(pickle.dumps(transform)) == transform
    if not isinstance(transform, (T.MixUp, T.RandomChoice)):
        floats = word.startswith(("normalize", "erase"))
        from dsconv._native_transform import NativeTransform as Transform

        Transform(word, dtype="float32" if floats else "uint8")  # is understood


@pytest.mark.parametrize(
    "transform",
    [
        T.RandomPosterize(0),
        T.RandomRotation(9, "lanczos"),
        T.RandomRotation(9, fill=0.5),
        T.Resize(9, max_size=9),
        T.RandomResizedCrop(9, scale=(0.5, 1.5)),
        T.ColorJitter((0, 0)),
        T.RandomHorizontalFlip(1.5),
        T.RandomErasing(scale=(0.4, 0.2)),
        T.Normalize((0.5,), (0,)),
        T.RandAugment(2, 31, 31),
        T.RandomCrop(8, -1),
        T.Resize((3, 4), "cubic"),
    ],
)
def test_parameters_without_a_native_equivalent_are_an_error(transform):
    with pytest.raises(ValueError, match="."):
        transform(PIXELS)


def test_arrays_stay_arrays():
    assert T.RandomResizedCrop((20, 30))(PIXELS).shape == (20, 30, 3)
    assert T.CenterCrop(10)(PIXELS[..., 0]).shape == (10, 10)
    assert np.array_equal(T.RandomHorizontalFlip(1)(PIXELS), PIXELS[:, ::-1])
    assert np.array_equal(T.Compose([])(PIXELS), PIXELS)


def test_wrong_images_are_an_error():
    with pytest.raises(TypeError, match="uint8 array"):
        T.RandomInvert()(PIXELS.astype(np.float32))
    with pytest.raises(TypeError, match="Loader"):
        T.Compose([T.ToTensor(), T.MixUp()])(PIXELS)


def test_pil_images_stay_pil_images():
    Image = pytest.importorskip("PIL.Image")
    image = Image.fromarray(PIXELS)
    out = T.Compose([T.RandomVerticalFlip(1), T.RandomInvert(1)])(image)
    assert out.mode == "RGB" and np.array_equal(np.asarray(out), 255 - PIXELS[::-1])
    assert T.CenterCrop(9)(image.convert("L")).mode == "L"
    assert T.Grayscale()(image).mode == "L"
    with pytest.raises(ValueError, match="mode CMYK"):
        T.CenterCrop(9)(image.convert("CMYK"))


def test_conversion():
    planes = PIXELS.transpose(2, 0, 1)
    assert np.array_equal(np.asarray(T.PILToTensor()(PIXELS)), planes)
    assert np.allclose(np.asarray(T.ToTensor()(PIXELS)), planes / 255, atol=1e-7)
    normalized = T.Compose([T.ToTensor(), T.Normalize((0.5, 0.4, 0.3), 0.25)])(PIXELS)
    want = (planes / 255 - np.array([0.5, 0.4, 0.3]).reshape(3, 1, 1)) / 0.25
    assert np.allclose(np.asarray(normalized), want, atol=1e-5)
    levels = T.Compose([T.ToDtype("float32"), T.Normalize((127.5, 102, 76.5), 63.75)])(PIXELS)
    assert np.allclose(np.asarray(levels), want, atol=1e-5)


def test_python_in_between():
    """Transforms do the same after a user's callable as before one."""
    own = T.Compose([T.CenterCrop(40), lambda image: image, T.ToTensor(), T.Normalize(0.5, 0.5)])
    native = T.Compose([T.CenterCrop(40), T.ToTensor(), T.Normalize(0.5, 0.5)])
    assert np.array_equal(np.asarray(own(PIXELS)), np.asarray(native(PIXELS)))
    late = T.Compose([T.CenterCrop(40), T.ToTensor(), lambda tensor: tensor, T.Normalize(0.5, 0.5)])
    assert np.allclose(np.asarray(late(PIXELS)), np.asarray(native(PIXELS)), atol=1e-6)


class Twice(T.RandomVerticalFlip):
    """A user's subclass with its own __call__."""

    def __call__(self, image):
        return super().__call__(super().__call__(image))


def test_subclasses_run_in_python():
    plan = T.translate([T.CenterCrop(9), Twice(1)])
    assert plan.words == "centercrop:9" and plan.named == ("Twice",)
    assert np.array_equal(T.Compose([Twice(1), T.RandomInvert(1)])(PIXELS), 255 - PIXELS)


def test_wrong_orders_of_transforms():
    with pytest.raises(ValueError, match="before ToTensor"):
        T.translate([T.ToTensor(), T.ColorJitter(0.4)])
    with pytest.raises(ValueError, match="mixing must come last"):
        T.translate([T.MixUp(), T.RandomHorizontalFlip()])
    with pytest.raises(ValueError, match="mixing must come last"):
        T.translate([T.MixUp(), T.CutMix()])
    with pytest.raises(ValueError, match="whole batches"):
        T.translate([lambda image: image, T.CutMix(), T.RandomInvert()])
    plan = T.translate([lambda image: image, T.RandomChoice([T.CutMix(), T.MixUp(alpha=0.5)])])
    assert plan.words == "" and plan.mixers == (T.CutMix(), T.MixUp(alpha=0.5))
    with pytest.raises(ValueError, match="equal weights"):
        T.translate([T.RandomChoice([T.MixUp(), T.CutMix()], p=(1, 2))])


def test_seeds():
    """A script without torch draws from Python's random; the same seed gives the same pixels."""
    script = (
        "import random, numpy, sys; from dsconv import transforms as T\n"
        "t, a = T.RandomCrop(8), numpy.arange(19200, dtype=numpy.uint8).reshape(80, 80, 3)\n"
        "def draw(seed): random.seed(seed); return [int(t(a)[0, 0, 0]) for _ in range(8)]\n"
        "assert draw(1) == draw(1) != draw(2); assert len(set(draw(1))) > 1\n"
        "assert not {'torch', 'torchvision', 'PIL'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", script], check=True, timeout=600)


def test_torch_seeds():
    torch = pytest.importorskip("torch")
    t = T.RandomCrop(8)

    def draw(seed):
        torch.manual_seed(seed)
        return [t(PIXELS).tobytes() for _ in range(3)]

    assert draw(1) == draw(1) != draw(2)


def test_translate_of_ops_and_none():
    assert T.translate(None) == T.Plan("", None, None, None, (), ())
    assert T.translate("rrc:224,flip").words == "rrc:224,flip"
    assert T.translate("rrc:224, normalize:0.5:0.5") == T.Plan("rrc:224, normalize:0.5:0.5", "float32", "tensor")
    assert T.translate([]).words == "" and T.translate([]).rest is None


def test_bfloat16():
    torch = pytest.importorskip("torch")
    out = T.ToDtype(torch.bfloat16, scale=True)(PIXELS)
    assert out.dtype == torch.bfloat16
    assert torch.allclose(out.float(), T.ToTensor()(PIXELS), atol=1 / 256)


def test_values_that_uint8_cannot_hold_are_an_error():
    """A transform that is called alone has no other transform after it that would make it native."""
    with pytest.raises(ValueError, match="scale=True"):
        T.ToDtype("float32")(PIXELS)
    with pytest.raises(ValueError, match="uint8"):
        T.RandomErasing(1, value="random")(PIXELS)
