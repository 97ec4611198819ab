"""FFCV with equally many threads: a .beton file of the original JPEGs, and one of small images as pixels."""

from __future__ import annotations

import types
from pathlib import Path

import numpy as np
from ffcv.fields import IntField, RGBImageField
from ffcv.fields.basics import IntDecoder
from ffcv.fields.decoders import RandomResizedCropRGBImageDecoder
from ffcv.fields.rgb_image import IMAGE_MODES
from ffcv.loader import Loader, OrderOption
from ffcv.transforms import NormalizeImage, RandomHorizontalFlip, ToTensor, ToTorchImage
from ffcv.writer import DatasetWriter
from PIL import Image
from torchvision.datasets import ImageFolder

from loaders.work import BATCH, LONGER, MEAN, SIZE, STD, Epoch, of_255, timed


def jpeg(images: Path, scratch: Path, workers: int) -> Epoch:
    """The original JPEGs, normalised."""
    return epochs(write(ImageFolder(str(images)).samples, verbatim(), scratch, workers), workers, normalised=True)


def raw(images: Path, scratch: Path, workers: int) -> Epoch:
    """Pixels, normalised."""
    return epochs(write(ImageFolder(str(images)), pixels(), scratch, workers), workers, normalised=True)


def raw_uint8(images: Path, scratch: Path, workers: int) -> Epoch:
    """Pixels, as uint8."""
    return epochs(write(ImageFolder(str(images)), pixels(), scratch, workers), workers, normalised=False)


def epochs(beton: Path, workers: int, normalised: bool) -> Epoch:
    """Epochs of images in FFCV's own layout, NHWC."""
    ops = [RandomResizedCropRGBImageDecoder((SIZE, SIZE)), RandomHorizontalFlip()]
    if normalised:
        ops.append(NormalizeImage(np.array(of_255(MEAN)), np.array(of_255(STD)), np.float32))
    loader = Loader(
        str(beton),
        batch_size=BATCH,
        num_workers=workers,
        os_cache=True,
        order=OrderOption.RANDOM,
        drop_last=False,
        pipelines={"image": [*ops, ToTensor(), ToTorchImage()], "label": [IntDecoder(), ToTensor()]},
    )
    return lambda: timed(len(labels) for _, labels in loader)


def write(data, field: RGBImageField, scratch: Path, workers: int) -> Path:
    beton = scratch / "images.beton"
    writer = DatasetWriter(str(beton), {"image": field, "label": IntField()}, num_workers=workers)
    writer.from_indexed_dataset(data)
    return beton


def pixels() -> RGBImageField:
    return RGBImageField(write_mode="raw", max_resolution=LONGER)


def verbatim() -> RGBImageField:
    """A field for paths. FFCV encodes JPEGs again; this keeps their bytes, so that all tools read the same images."""

    def keep(self, destination, path, malloc):
        data = np.fromfile(path, np.uint8)
        with Image.open(path) as image:
            destination["width"], destination["height"] = image.size
        destination["mode"] = IMAGE_MODES["jpg"]
        destination["data_ptr"], storage = malloc(data.nbytes)
        storage[:] = data

    field = RGBImageField(write_mode="jpg")
    field.encode = types.MethodType(keep, field)
    return field
