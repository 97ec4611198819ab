"""NVIDIA DALI without a GPU. It decodes only the crop."""

from __future__ import annotations

from pathlib import Path

from nvidia.dali import fn, pipeline_def, types

from loaders.work import BATCH, MEAN, SIZE, STD, Epoch, of_255, timed

# Prefetched batches, also between epochs.
READY = 2


def folder(images: Path, scratch: Path, workers: int) -> Epoch:
    pipe = pipeline(images, batch_size=BATCH, num_threads=workers, device_id=None, prefetch_queue_depth=READY)
    pipe.build()
    batches = -(-pipe.epoch_size("files") // BATCH)

    def epoch() -> tuple[int, float]:
        for _ in range(READY):
            pipe.run()
        return timed(len(pipe.run()[1]) for _ in range(batches))

    return epoch


@pipeline_def
def pipeline(images: Path):
    data, labels = fn.readers.file(file_root=str(images), random_shuffle=True, name="files")
    crop = fn.decoders.image_random_crop(
        data, device="cpu", random_aspect_ratio=[3 / 4, 4 / 3], random_area=[0.08, 1.0]
    )
    pixels = fn.crop_mirror_normalize(
        fn.resize(crop, size=(SIZE, SIZE)),
        mirror=fn.random.coin_flip(),
        mean=of_255(MEAN),
        std=of_255(STD),
        dtype=types.FLOAT,
        output_layout="CHW",
    )
    return pixels, labels
