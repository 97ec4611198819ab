"""WebDataset: shards of the same files, decoded by Pillow, transformed by torchvision."""

from __future__ import annotations

from pathlib import Path

import webdataset as wds
from torchvision.datasets import ImageFolder

from loaders import pytorch
from loaders.work import BATCH, Epoch

# The number of shards, which the workers share evenly.
SHARDS = 8
# The size of the shuffle buffer, in samples.
BUFFER = 1000


def shards(images: Path, scratch: Path, workers: int) -> Epoch:
    """Each worker makes batches of its own shards, as usual."""
    pytorch.one_thread()
    write(ImageFolder(str(images)).samples, scratch)
    urls = sorted(str(path) for path in scratch.glob("*.tar"))
    data = wds.WebDataset(urls, shardshuffle=SHARDS).shuffle(BUFFER).decode("pil").to_tuple("jpg", "cls")
    data = data.map_tuple(pytorch.pillow_ops(), int).batched(BATCH)
    return pytorch.of(wds.WebLoader(data, batch_size=None, num_workers=workers, persistent_workers=True))


def write(samples: list[tuple[str, int]], scratch: Path) -> None:
    with wds.ShardWriter(str(scratch / "%06d.tar"), maxcount=-(-len(samples) // SHARDS), verbose=0) as writer:
        for n, (path, label) in enumerate(samples):
            writer.write({"__key__": f"{n:08d}", "jpg": Path(path).read_bytes(), "cls": label})
