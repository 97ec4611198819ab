"""Training of ResNet-18 and -50: a DataLoader at its best, and dsconv with each kind of dataset, in one table."""

from __future__ import annotations

import itertools
import traceback
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import asdict
from functools import partial
from pathlib import Path

import prepare
from setting import Setting

from parts import loader

EPOCHS, BATCH, SIZE = 3, 256, 224

# The datasets, by the flags of pack, with how each is loaded: decoder and normalize.
DATASETS = {
    "jpeg": ([], [("cpu", "host"), ("cpu", "device"), ("gpu", "host")]),
    "tiled": (["--encode=jpeg-tiled"], [("cpu", "host")]),
    "resized": (["--resize=shorter:256", "--encode=jpeg:90"], [("cpu", "host"), ("gpu", "host")]),
    "raw": (["--resize=cover:224x224", "--encode=raw"], [("cpu", "host"), ("cpu", "device")]),
}


def run(setting: Setting, save: Callable[..., None]) -> None:
    loader.with_cuda()
    from dsconv.train.compare import compare
    from dsconv.train.distributed import join
    from dsconv.train.settings import Settings

    missing: dict[str, str] = {}
    failed: dict[str, str] = {}
    epochs: list[dict] = []
    workers = None

    def told(model: str, name: str, number: int, epoch) -> None:
        """Prints and keeps an epoch: the report is there at the end only, and this part may be ended before."""
        share = epoch.wait_seconds / epoch.seconds
        epochs.append({"model": model, "side": name, "epoch": number, **asdict(epoch), "starved": share})
        save(epochs=epochs)
        print(f"{name}: epoch {number}: {epoch.images_per_second:.0f} images/s, starved {share:.1%}", flush=True)

    with join(loader.DEVICE) as world:
        for model in setting.models:
            settings = Settings(
                model=model,
                epochs=EPOCHS,
                batch_size=BATCH,
                size=SIZE,
                precision="bf16",
                channels_last=True,
                compile="inductor" if setting.compile else None,
                num_workers=workers,
                pin_memory=True,
            )
            chosen = sides(setting, settings, world, missing)
            save(missing=missing)
            if not chosen:
                break
            workers = chosen[0].settings.get("num_workers", workers)  # the same folder: it is measured once
            try:
                report = compare(chosen, settings, world, partial(told, model), quiet=True)
            except Exception as error:  # the next model may do better
                traceback.print_exc()
                failed[model] = f"{type(error).__name__}: {error}"
                continue
            save(**{model: report.to_dict()})
            print(f"\n{report}", flush=True)
    if missing or failed:
        raise RuntimeError("; ".join(f"{name}: {reason}" for name, reason in {**missing, **failed}.items()))


def sides(setting: Setting, settings, world, missing: dict[str, str]) -> list:
    """The sides that can be opened here. missing gets the others, with the reasons."""
    from dsconv.train import from_dataloader, from_dsconv
    from dsconv.train.ways import Way

    found = []
    try:
        found.append(from_dataloader.folder(Path(setting.photos), settings, world))
    except Exception as error:  # torchvision is not there or for another torch, or /dev/shm is too small for workers
        missing["DataLoader"] = f"{type(error).__name__}: {error}"
    for name, (flags, ways) in DATASETS.items():
        path = Path(prepare.packed(setting, setting.photos, name, *flags))
        for decoder, normalize in ways:
            way = Way(decoder, normalize, setting.nvjpeg or None if decoder == "gpu" else None)
            side = from_dsconv.images(path, settings, world, way)
            try:
                with ExitStack() as stack:
                    for _ in itertools.islice(stack.enter_context(side.open()).train, 1):
                        pass
            except Exception as error:  # one way that fails must not take the others along
                missing[side.name] = f"{type(error).__name__}: {error}"
            else:
                found.append(side)
    return found
