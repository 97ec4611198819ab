"""Decoding on the GPU: how its pixels differ from the CPU's, for each kind of JPEG, and how many images it decodes.

The pixels are those of two packs of the same images, which need no torch. The rates are those of a Loader, beside
torchvision's decode_jpeg with the same images and the same work after it; they need torch.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import machine
import prepare
from setting import Setting, Skip

from parts import loader
from parts.cpu import rate

# The kinds of JPEG, by the flags with which photos are packed to make them.
KINDS = {
    "420": ["--encode=jpeg:90:420", "--no-tile"],
    "422": ["--encode=jpeg:90:422", "--no-tile"],
    "444": ["--encode=jpeg:90:444", "--no-tile"],
    "420 restarts": ["--encode=jpeg:90:420:tile=8"],
    "420 quality 50": ["--encode=jpeg:50:420", "--no-tile"],
    "420 progressive": ["--encode=jpeg:90:420:progressive"],
    "grey": ["--encode=jpeg:90", "--no-tile", "--color=gray"],
    "420 odd size": ["--encode=jpeg:90:420", "--no-tile", "--resize=exact:333x217"],
    "420 large": ["--encode=jpeg:90:420", "--no-tile", "--resize=exact:1501x1000"],
    "420 one pixel": ["--encode=jpeg:90:420", "--no-tile", "--resize=exact:1x1"],
}
FEW = 32  # photos of each kind, at most
USES = {"whole": [], "resized": ["--resize=exact:224x224"]}
BATCH = 64


def run(setting: Setting, save: Callable[..., None]) -> None:
    machine.gpu()
    save(doctor=doctor(setting))
    few = prepare.photos(setting.command, Path(setting.work), min(FEW, setting.images), "500x375")
    parity = []
    for kind, flags in KINDS.items():
        source = prepare.packed(setting, str(few), f"kind-{kind.replace(' ', '-')}", *flags)
        for use, resize in USES.items():
            parity.append({"kind": kind, "use": use, **differences(setting, source, resize)})
            print(
                "decode: {kind}, {use}: largest difference {largest_difference}, mean {mean_difference:.4f}, "
                "equal {equal_share:.2%}, {decoded}".format(**parity[-1]),
                flush=True,
            )
            save(parity=parity)
    try:
        save(images_per_second=rates(setting, save))
    except Skip as reason:
        save(images_per_second={"skipped": str(reason)})


def doctor(setting: Setting) -> list[dict]:
    """What dsconv doctor says of the GPU: above all whether nvJPEG can reach the JPEG engine."""
    lines = json.loads(prepare.dsconv(setting, "doctor", "--json"))["lines"]
    found = [line for line in lines if line["name"] in ("GPU", "CUDA", "GPU decoding")]
    print("doctor: " + "; ".join(line["value"] for line in found), flush=True)
    return found


def differences(setting: Setting, source: str, resize: list[str]) -> dict:
    """How the pixels that the GPU decodes differ from the CPU's, and what decoded them."""
    import numpy as np

    decoded, pixels = None, {}
    for decoder, flags in (("cpu", []), ("gpu", setting.gpu_flags())):
        path = Path(setting.work, f"parity-{decoder}.lmdb")
        prepare.remove(path)
        color = ["--color=keep"]
        report = prepare.dsconv(setting, "pack", source, str(path), "--encode=raw", "--json", *color, *resize, *flags)
        decoded = json.loads(report)["datasets"][0].get("decoded")
        pixels[decoder] = images(path)
    gap = np.abs(pixels["cpu"].astype(np.int16) - pixels["gpu"])
    return {
        "images": len(gap),
        "largest_difference": int(gap.max()),
        "mean_difference": float(gap.mean()),
        "equal_share": float((gap == 0).mean()),
        "decoded": decoded,
    }


def images(path: Path):
    """All images of a dataset of pixels of one size."""
    import dsconv
    import numpy as np

    with closing(dsconv.Loader(path, BATCH, num_workers=2)) as batches:
        return np.concatenate([np.asarray(batch) for batch, _ in batches])


def rates(setting: Setting, save: Callable[..., None]) -> dict:
    """Images/s: decoded and resized to 224 x 224 on the GPU, by dsconv and by torchvision."""
    torch = loader.with_cuda()
    path = prepare.packed(setting, setting.photos, "jpeg")
    found: dict = {"batch": BATCH, "rounds": []}
    for _ in range(3):
        turn = {"dsconv cpu": loaded(path, setting.turn, device=loader.DEVICE)}
        turn["dsconv gpu"] = loaded(path, setting.turn, decoded := {}, **setting.gpu_options())
        found["rounds"].append(turn)
        found["decoded"] = decoded
        save(images_per_second=found)  # before torchvision, which may crash
        if "torchvision" not in found:
            try:
                turn.update(torchvision_rates(torch, setting.photos))
            except Exception as error:  # it is not there, is for another torch or the CPU, or cannot decode
                found["torchvision"] = f"{type(error).__name__}: {error}"
            save(images_per_second=found)
        print("decode, images/s: " + ", ".join(f"{name} {value:.0f}" for name, value in turn.items()), flush=True)
    return found


def loaded(path: str, seconds: float, decoded: dict | None = None, **options: object) -> float:
    """Images/s of a Loader that resizes and keeps uint8. decoded gets the counts of what decoded them."""
    import dsconv

    with closing(dsconv.Loader(path, BATCH, "resize:224x224", dtype="uint8", **options)) as batches:
        found = rate(synchronised(batches), seconds)
        if decoded is not None:
            decoded.update(batches.stats()["decoded"])
    return found


class synchronised:
    """Batches that are complete on the GPU when they are returned: copies and kernels count as loading."""

    def __init__(self, loader) -> None:
        self.loader = loader

    def __len__(self) -> int:
        return len(self.loader)

    def __iter__(self):
        import torch

        for batch in self.loader:
            torch.cuda.synchronize()
            yield batch


def torchvision_rates(torch, photos: str, batch: int = BATCH) -> dict[str, float]:
    """Images/s of torchvision's decode_jpeg on the GPU: decoding alone, and with the resize that dsconv does too."""
    from torchvision.io import decode_jpeg
    from torchvision.transforms.v2 import functional

    batches = encoded(torch, photos, batch)
    found = {}
    for name, resize in (("torchvision gpu, no resize", False), ("torchvision gpu", True)):
        images, began, spent = 0, 0.0, 0.0
        for n, jpegs in enumerate(batches):
            if n == 2:  # the first ones start the decoder
                began, images = time.perf_counter(), 0
            pixels = decode_jpeg(jpegs, device=loader.DEVICE)
            if resize:
                torch.stack([functional.resize(image, [224, 224], antialias=True) for image in pixels])
            torch.cuda.synchronize()
            images += len(jpegs)
            spent = time.perf_counter() - began
        found[name] = images / spent
    return found


def encoded(torch, photos: str, batch: int, count: int = 20) -> list:
    """Batches of JPEGs in memory: torchvision does not have to read them."""
    files = sorted(Path(photos).rglob("*.jpg"))[: count * batch]
    jpegs = [torch.frombuffer(bytearray(file.read_bytes()), dtype=torch.uint8) for file in files]
    return [jpegs[at : at + batch] for at in range(0, len(jpegs), batch)]
