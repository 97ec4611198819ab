"""LitData: local optimized chunks of the same files. LitData decodes them to tensors, torchvision transforms them."""

from __future__ import annotations

from pathlib import Path

import litdata
from PIL import Image
from torchvision.datasets import ImageFolder

from loaders import pytorch
from loaders.work import BATCH, Epoch


class Images(litdata.StreamingDataset):
    def __init__(self, chunks: Path) -> None:
        super().__init__(str(chunks), shuffle=True, drop_last=False)
        self.ops = pytorch.tensor_ops()

    def __getitem__(self, at):
        image, label = super().__getitem__(at)
        return self.ops(image), label


def chunks(images: Path, scratch: Path, workers: int) -> Epoch:
    pytorch.one_thread()
    out = scratch / "chunks"
    samples = ImageFolder(str(images)).samples
    litdata.optimize(fn=sample, inputs=samples, output_dir=str(out), chunk_bytes="64MB", num_workers=workers)
    data = Images(out)
    loader = litdata.StreamingDataLoader(data, batch_size=BATCH, num_workers=workers, persistent_workers=True)
    return pytorch.of(loader)


def sample(item: tuple[str, int]) -> tuple[Image.Image, int]:
    """LitData stores the file's bytes for an image that was opened from a file."""
    path, label = item
    return Image.open(path), label
