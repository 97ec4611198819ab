"""MosaicML Streaming: local MDS shards of the same files, transformed by torchvision."""

from __future__ import annotations

from pathlib import Path

from PIL import Image
from streaming import MDSWriter, StreamingDataLoader, StreamingDataset
from torchvision.datasets import ImageFolder

from loaders import pytorch
from loaders.work import BATCH, Epoch


class Images(StreamingDataset):
    def __init__(self, local: Path) -> None:
        super().__init__(local=str(local), shuffle=True, batch_size=BATCH)
        self.ops = pytorch.pillow_ops()

    def __getitem__(self, at: int):
        sample = super().__getitem__(at)
        return self.ops(sample["image"]), sample["label"]


def shards(images: Path, scratch: Path, workers: int) -> Epoch:
    pytorch.one_thread()
    with MDSWriter(out=str(scratch / "mds"), columns={"image": "jpeg", "label": "int"}) as writer:
        for path, label in ImageFolder(str(images)).samples:
            with Image.open(path) as image:  # the file's bytes are stored for an image opened from a file
                writer.write({"image": image, "label": label})
    data = Images(scratch / "mds")
    return pytorch.of(StreamingDataLoader(data, batch_size=BATCH, num_workers=workers, persistent_workers=True))
