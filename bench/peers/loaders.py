"""Loaders of other tools on the same images: epochs of RandomResizedCrop, flip and normalisation to float32."""

from __future__ import annotations

import time
import types
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import torch
from torch.utils.data import DataLoader
from torchvision import transforms
from torchvision.datasets import ImageFolder

BATCH = 64
SIZE = 224
MEAN = (0.485, 0.456, 0.406)
STD = (0.229, 0.224, 0.225)

# Reads an epoch and returns the seconds an image.
Epoch = Callable[[], float]


def timed(batches: Iterable[int]) -> float:
    """The seconds an image of batches, each of which is the number of its images."""
    start = time.perf_counter()
    count = sum(batches)
    return (time.perf_counter() - start) / count


def image_folder(images: Path, workers: int) -> Epoch:
    """PyTorch's usual training input: worker processes, which live on between epochs, and Pillow."""
    ops = [
        transforms.RandomResizedCrop(SIZE),
        transforms.RandomHorizontalFlip(),
        transforms.ToTensor(),
        transforms.Normalize(mean=MEAN, std=STD),
    ]
    torch.set_num_threads(1)  # DataLoader does so in its workers; the main process has nothing to compute
    data = ImageFolder(str(images), transforms.Compose(ops))
    loader = DataLoader(data, batch_size=BATCH, shuffle=True, num_workers=workers, persistent_workers=True)
    return lambda: timed(len(labels) for _, labels in loader)


def ffcv(images: Path, scratch: Path, workers: int) -> Epoch:
    """FFCV on a .beton of the original JPEGs, with as many threads."""
    from ffcv.fields.basics import IntDecoder
    from ffcv.fields.decoders import RandomResizedCropRGBImageDecoder
    from ffcv.loader import Loader, OrderOption
    from ffcv.transforms import NormalizeImage, RandomHorizontalFlip, ToTensor, ToTorchImage

    beton = scratch / "original.beton"
    write_beton(images, beton, workers)
    mean, std = np.array(MEAN) * 255, np.array(STD) * 255
    pixels = [
        RandomResizedCropRGBImageDecoder((SIZE, SIZE)),
        RandomHorizontalFlip(),
        NormalizeImage(mean, std, np.float32),
        ToTensor(),
        ToTorchImage(),
    ]
    loader = Loader(
        str(beton),
        batch_size=BATCH,
        num_workers=workers,
        os_cache=True,
        order=OrderOption.RANDOM,
        drop_last=False,
        pipelines={"image": pixels, "label": [IntDecoder(), ToTensor()]},
    )
    return lambda: timed(len(labels) for _, labels in loader)


def write_beton(images: Path, beton: Path, workers: int) -> None:
    """FFCV encodes JPEGs anew; the field is made to keep the files' bytes, so that all read the same images."""
    from ffcv.fields import IntField, RGBImageField
    from ffcv.fields.rgb_image import IMAGE_MODES
    from ffcv.writer import DatasetWriter
    from PIL import Image

    def keep(self, destination, path, malloc):
        data = np.fromfile(path, np.uint8)
        with Image.open(path) as image:
            destination["width"], destination["height"] = image.size
        destination["mode"] = IMAGE_MODES["jpg"]
        destination["data_ptr"], storage = malloc(data.nbytes)
        storage[:] = data

    field = RGBImageField(write_mode="jpg")
    field.encode = types.MethodType(keep, field)
    writer = DatasetWriter(str(beton), {"image": field, "label": IntField()}, num_workers=workers)
    writer.from_indexed_dataset(ImageFolder(str(images)).samples)


def dali(images: Path, workers: int) -> Epoch:
    """NVIDIA DALI without a GPU: only the crop is decoded."""
    from nvidia.dali import fn, pipeline_def
    from nvidia.dali import types as dali_types

    ready = 2  # batches that are made ahead, also between epochs

    @pipeline_def(batch_size=BATCH, num_threads=workers, device_id=None, prefetch_queue_depth=ready)
    def pipeline():
        data, labels = fn.readers.file(file_root=str(images), random_shuffle=True, name="files")
        crop = fn.decoders.image_random_crop(
            data, device="cpu", random_aspect_ratio=[3 / 4, 4 / 3], random_area=[0.08, 1.0]
        )
        scaled = fn.resize(crop, size=(SIZE, SIZE))
        pixels = fn.crop_mirror_normalize(
            scaled,
            mirror=fn.random.coin_flip(),
            mean=[255 * m for m in MEAN],
            std=[255 * s for s in STD],
            dtype=dali_types.FLOAT,
            output_layout="CHW",
        )
        return pixels, labels

    pipe = pipeline()
    pipe.build()
    batches = -(-pipe.epoch_size("files") // BATCH)

    def epoch() -> float:
        for _ in range(ready):
            pipe.run()
        return timed(len(pipe.run()[1]) for _ in range(batches))

    return epoch
