"""Packing a dataset object of Python's: dsconv.pack beside the writers of other libraries, with as many processes."""

from __future__ import annotations

import io
import multiprocessing
import subprocess
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from packing import empty, warm
from PIL import Image
from timing import Comparison, interleave, table

QUALITY = 90


class Files:
    """Images as the bytes of their files, with labels: what users write."""

    def __init__(self, samples: list[tuple[str, int]]) -> None:
        self.samples = samples

    def __len__(self) -> int:
        return len(self.samples)

    def __getitem__(self, i: int) -> tuple[bytes, int]:
        path, label = self.samples[i]
        return Path(path).read_bytes(), label


class Decoded(Files):
    """The same images as pixels of at most 256 on the shorter side."""

    def __getitem__(self, i: int) -> tuple[np.ndarray, int]:  # type: ignore[override]
        path, label = self.samples[i]
        image = Image.open(path).convert("RGB")
        scale = 256 / min(image.size)
        return np.asarray(image.resize((round(image.width * scale), round(image.height * scale)))), label


def compare(dsconv: Path, images: Path, scratch: Path, rounds: int, workers: int) -> list[Comparison]:
    from torchvision.datasets import ImageFolder

    folder = ImageFolder(str(images))
    out, files = scratch / "objects", Files(folder.samples)
    decoded = Decoded(folder.samples[:: max(1, len(folder) // 2000)])  # each takes milliseconds
    warm(images)

    def beside(
        ours: str, peer: str, wanted: float | None, work: Callable[[], object], theirs: Callable[[], object]
    ) -> Comparison:
        done = interleave(Comparison("objects", ours, peer, wanted), rounds, partial(empty, out), work, theirs)
        print(table([done]), flush=True)  # the next ones take minutes
        return done

    def pack(name: str, data: Any, **options: Any) -> Callable[[], object]:
        return partial(pack_object, data, out / name, workers, **options)

    command = partial(subprocess.run, [dsconv, "pack", images, out / "command.lmdb", "--quiet"], check=True)
    found = [
        beside("an ImageFolder into LMDB", "dsconv pack of the folder", 0.8, pack("a.lmdb", folder), command),
        beside("files into LMDB", "dsconv pack of the folder", None, pack("a.lmdb", files), command),
    ]
    for name, target, writer in [
        ("MosaicML's MDSWriter", "a.lmdb", mds),
        ("webdataset's TarWriter", "a.tar", tar_writer),
        ("Python's lmdb", "a.lmdb", lmdb_loop),
        ("FFCV's DatasetWriter", "a.lmdb", ffcv),
        ("LitData's optimize", "a.lmdb", litdata),
    ]:
        order = {"order": "key"} if target.endswith("tar") else {}
        try:
            found.append(
                beside(
                    f"files into {target[2:]}",
                    name,
                    1.0,
                    pack(target, files, **order),
                    partial(writer, files, out, workers),
                )
            )
        except ImportError as missing:
            print(f"{name} is left out: {missing}")
    for name, encode in [("Pillow alone", encode_pillow), ("OpenCV alone", encode_opencv)]:
        ours = pack("a.lmdb", decoded, encode=f"jpeg:{QUALITY}")
        found.append(
            beside(
                f"pixels into LMDB, JPEG {QUALITY}",
                f"{workers} processes of {name}",
                0.9,
                ours,
                partial(encoded, decoded, encode, workers),
            )
        )
    return found


def pack_object(data: Any, target: Path, workers: int, **options: Any) -> None:
    import dsconv

    given = {} if hasattr(data, "loader") else {"num_workers": workers}
    dsconv.pack(data, target, progress=False, **given, **options)


def read_by(data: Files, workers: int) -> Iterator[tuple[bytes, int]]:
    """The samples, read by as many processes: the usual way for writers of one process."""
    from torch.utils.data import DataLoader

    return iter(DataLoader(data, batch_size=None, num_workers=workers))


def mds(data: Files, out: Path, workers: int) -> None:
    from streaming import MDSWriter

    with MDSWriter(out=str(out / "mds"), columns={"image": "bytes", "label": "int"}) as writer:
        for image, label in read_by(data, workers):
            writer.write({"image": image, "label": label})


def tar_writer(data: Files, out: Path, workers: int) -> None:
    from webdataset import TarWriter

    with TarWriter(str(out / "peer.tar")) as writer:
        for i, (image, label) in enumerate(read_by(data, workers)):
            writer.write({"__key__": f"{i:06d}", "jpg": image, "cls": label})


def lmdb_loop(data: Files, out: Path, workers: int) -> None:
    import lmdb

    env = lmdb.open(str(out / "peer.lmdb"), map_size=1 << 34)
    txn = env.begin(write=True)
    for i, (image, label) in enumerate(read_by(data, workers)):
        txn.put(b"%06d" % i, label.to_bytes(8, "little") + image, append=True)
        if i % 1000 == 999:
            txn.commit()
            txn = env.begin(write=True)
    txn.commit()
    env.close()


def ffcv(data: Files, out: Path, workers: int) -> None:
    from ffcv.fields import BytesField, IntField
    from ffcv.writer import DatasetWriter

    arrays = _Arrays(data)
    DatasetWriter(
        str(out / "peer.beton"), {"image": BytesField(), "label": IntField()}, num_workers=workers
    ).from_indexed_dataset(arrays)


class _Arrays:
    """FFCV's BytesField takes arrays."""

    def __init__(self, data: Files) -> None:
        self.data = data

    def __len__(self) -> int:
        return len(self.data)

    def __getitem__(self, i: int) -> tuple[np.ndarray, int]:
        image, label = self.data[i]
        return np.frombuffer(image, np.uint8), label


def litdata(data: Files, out: Path, workers: int) -> None:
    from litdata import optimize

    optimize(
        fn=data.__getitem__,
        inputs=list(range(len(data))),
        output_dir=str(out / "litdata"),
        num_workers=workers,
        chunk_bytes="64MB",
    )


def encode_pillow(pixels: np.ndarray) -> None:
    Image.fromarray(pixels).save(io.BytesIO(), "JPEG", quality=QUALITY)


def encode_opencv(pixels: np.ndarray) -> None:
    import cv2

    cv2.setNumThreads(1)
    cv2.imencode(".jpg", pixels[..., ::-1], [cv2.IMWRITE_JPEG_QUALITY, QUALITY])


def encoded(data: Decoded, encode: Callable[[np.ndarray], None], workers: int) -> None:
    """Reads and encodes all images by as many processes, and writes nothing."""
    shares = [range(k, len(data), workers) for k in range(workers)]
    processes = [multiprocessing.Process(target=_encode, args=(data, encode, share)) for share in shares]
    for p in processes:
        p.start()
    for p in processes:
        p.join()


def _encode(data: Decoded, encode: Callable[[np.ndarray], None], share: range) -> None:
    for i in share:
        encode(data[i][0])
