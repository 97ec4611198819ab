"""Native transforms move images, masks and boxes together as torchvision's v2 moves tv_tensors, for the same draws.

A mask says the place of each of its pixels, so a batch's masks show what the Loader has drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import dsconv
import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("torchvision", reason="torchvision is not installed")

from PIL import Image  # noqa: E402
from test_fields import source, street  # noqa: E402, F401
from torchvision import tv_tensors  # noqa: E402
from torchvision.transforms import InterpolationMode, v2  # noqa: E402
from torchvision.transforms.v2 import functional as F  # noqa: E402

FIELDS = ("image", "mask", "boxes", "index")
# The filters of images and of masks. A tv_tensors.Mask has PyTorch's older NEAREST (docs/pixels.md).
BILINEAR, NEAREST = InterpolationMode.BILINEAR, InterpolationMode.NEAREST_EXACT
Move = Callable[[Any, InterpolationMode], Any]


def unflipped(mask: np.ndarray) -> tuple[np.ndarray, bool, bool]:
    """The mask as before its flips, and whether it was flipped left to right and top to bottom."""
    rows, columns = np.nonzero((mask[1:, 1:] > 0) & (mask[:-1, :-1] > 0) & (mask[1:, :-1] > 0))
    i, j = rows[-1], columns[-1]
    left, top = mask[:, j] % 1000 > mask[:, j + 1] % 1000, mask[i] // 1000 > mask[i + 1] // 1000
    across, down = bool(left[i + 1]), bool(top[j])
    return mask[:: -1 if down else 1, :: -1 if across else 1], across, down


def flips(across: bool, down: bool) -> list[Move]:
    moves: list[Move] = [lambda x, mode: F.horizontal_flip(x)] if across else []
    return [*moves, lambda x, mode: F.vertical_flip(x)] if down else moves


def resized_crop(mask: np.ndarray) -> list[Move]:
    """What a crop was that was then enlarged to the mask's size."""
    across, down = bool(mask[0, 0] > mask[0, -1]), False
    mask = mask[:, ::-1] if across else mask
    (top, left), (bottom, right) = divmod(int(mask[0, 0]), 1000), divmod(int(mask[-1, -1]), 1000)
    box, size = (top, left, bottom + 1 - top, right + 1 - left), list(mask.shape)
    return [lambda x, mode: F.resized_crop(x, *box, size, interpolation=mode), *flips(across, down)]


def padded_crop(mask: np.ndarray) -> list[Move]:
    mask, across, down = unflipped(mask)
    i, j = np.unravel_index(mask.argmax(), mask.shape)
    top, left = int(mask[i, j]) // 1000 - int(i), int(mask[i, j]) % 1000 - int(j)
    return [lambda x, mode: F.crop(x, top, left, *mask.shape), *flips(across, down)]


def resized_and_cut(mask: np.ndarray) -> list[Move]:
    return [
        lambda x, mode: F.resize(x, [30, 44], interpolation=mode),
        lambda x, mode: F.center_crop(x, [24, 50]),
        *flips(True, True),
    ]


PIPELINES = {
    "resized crop": ([v2.RandomResizedCrop((116, 124), (0.1, 1)), v2.RandomHorizontalFlip()], resized_crop),
    "padded crop": (
        [v2.RandomCrop((32, 36), padding=(5, 3)), v2.RandomVerticalFlip(), v2.RandomHorizontalFlip()],
        padded_crop,
    ),
    "resize": (
        [v2.Resize((30, 44)), v2.CenterCrop((24, 50)), v2.RandomHorizontalFlip(1.0), v2.RandomVerticalFlip(1.0)],
        resized_and_cut,
    ),
}


@pytest.mark.parametrize("name", PIPELINES)
def test_image_mask_and_boxes_move_together(street: str, name: str) -> None:  # noqa: F811
    transforms, moves_of = PIPELINES[name]
    plain = dsconv.Dataset(street, fields=FIELDS)
    loader = dsconv.Loader(street, 2, transforms, shuffle=True, seed=4, fields=FIELDS, tv_tensors=True, strict=True)
    drawn = set()
    for _ in range(4):
        for batch in loader:
            for image, mask, boxes, index in zip(*batch):
                moves = moves_of(np.asarray(mask))
                want = plain[int(index)]
                source_mask = tv_tensors.Image(want.mask.as_subclass(torch.Tensor).to(torch.int32)[None])
                values = [want.image, source_mask, want.boxes]
                for move in moves:
                    values = [move(x, mode) for x, mode in zip(values, (BILINEAR, NEAREST, BILINEAR))]
                photo, places, moved = values
                assert np.array_equal(np.asarray(image), np.asarray(photo).transpose(2, 0, 1))
                assert np.array_equal(np.asarray(mask), np.asarray(places[0]))
                assert boxes.canvas_size == moved.canvas_size == tuple(mask.shape)
                assert torch.allclose(boxes, F.clamp_bounding_boxes(moved), atol=1e-3)
                drawn.add(np.asarray(mask).tobytes())
    assert len(drawn) == 1 if name == "resize" else len(drawn) > 15


def test_the_draws_follow_the_seed_alone(street: str, tmp_path: Path) -> None:  # noqa: F811
    """Not the fields, the workers or the batches."""
    options: dict[str, Any] = {"shuffle": True, "seed": 5}
    transforms = PIPELINES["resized crop"][0]
    alone = torch.cat([image for (image,) in dsconv.Loader(street, 3, transforms, fields=("image",), **options)])
    joint = dsconv.Loader(street, 2, transforms, fields=FIELDS, num_workers=1, **options)
    assert torch.equal(alone, torch.cat([batch.image for batch in joint]))


CHANNELS = {"RGB": 3, "RGBA": 4, "LA": 2}


@pytest.fixture(scope="module", params=CHANNELS)
def channels(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, list[np.ndarray]]:
    """Photos with masks of several channels, and these masks as (C, H, W)."""
    root, rng = tmp_path_factory.mktemp("channels"), np.random.default_rng(7)
    (root / "photos").mkdir()
    (root / "masks").mkdir()
    masks = []
    for k in range(4):
        Image.fromarray(rng.integers(0, 256, (30, 40, 3), np.uint8)).save(root / "photos" / f"{k}.png")
        mask = rng.integers(0, 256, (30, 40, CHANNELS[request.param]), np.uint8)
        Image.fromarray(mask).save(root / "masks" / f"{k}.png")
        masks.append(mask.transpose(2, 0, 1))
    patterns = {"image": "photos/{key}.png", "mask": "masks/{key}.png"}
    dsconv.pack(root, root.with_suffix(".lmdb"), field=patterns, progress=False)
    return str(root.with_suffix(".lmdb")), masks


def test_channels_of_a_mask_come_first_as_a_tv_tensor(channels: tuple[str, list[np.ndarray]]) -> None:
    path, masks = channels
    flip = v2.RandomHorizontalFlip(1.0)
    for k, item in enumerate(dsconv.Dataset(path, fields=("image", "mask"), transforms=flip)):
        assert isinstance(item.mask, tv_tensors.Mask) and np.array_equal(np.asarray(item.mask), masks[k][..., ::-1])
        assert np.array_equal(np.asarray(item.image.convert("RGB")).shape[:2], item.mask.shape[1:])
    options: dict[str, Any] = {"fields": ("image", "mask"), "tv_tensors": True}
    for batch in dsconv.Loader(path, 4, **options):
        flipped = flip(batch.mask)
        assert isinstance(flipped, tv_tensors.Mask) and np.array_equal(np.asarray(flipped), np.stack(masks)[..., ::-1])
    (plain,) = dsconv.Loader(path, 4, fields=("image", "mask"))
    assert np.array_equal(np.asarray(plain.mask), np.stack(masks).transpose(0, 2, 3, 1))
    loader = dsconv.Loader(path, 2, fields=("image", "mask"), tv_tensors=True, collate_fn=list)
    samples = [sample for batch in loader for sample in batch]
    assert all(np.array_equal(np.asarray(sample[1]), mask) for sample, mask in zip(samples, masks))


@pytest.mark.parametrize(
    "transforms",
    [
        [v2.CenterCrop((20, 28))],
        [v2.RandomHorizontalFlip(1.0), v2.RandomVerticalFlip(1.0)],
        [v2.Resize((18, 56))],
        [v2.RandomRotation((90, 90))],
    ],
)
def test_native_transforms_move_channels_of_a_mask(
    channels: tuple[str, list[np.ndarray]], transforms: list[Any]
) -> None:
    path, masks = channels
    (batch,) = dsconv.Loader(path, 4, transforms, fields=("image", "mask"), tv_tensors=True, strict=True)
    nearest = [v2.Resize(t.size, NEAREST) if isinstance(t, v2.Resize) else t for t in transforms]
    want = v2.Compose(nearest)(tv_tensors.Image(torch.from_numpy(np.stack(masks))))
    assert np.array_equal(np.asarray(batch.mask), np.asarray(want))
