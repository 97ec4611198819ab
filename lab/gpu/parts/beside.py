"""The GPU's decoder beside a training: whether either waits for the other, and whether the pixels stay the same."""

from __future__ import annotations

import itertools
import threading
import time
from contextlib import nullcontext

import prepare
from setting import Setting

from parts import loader

MODEL = "resnet50"
BATCH, LARGE = 64, 256
STEPS = 20  # of a measurement
BATCHES = 200  # whose pixels are compared


def learner(torch, classes: int, batch: int):
    from dsconv.train.distributed import World
    from dsconv.train.learner import Learner
    from dsconv.train.settings import Settings

    torch.backends.cudnn.benchmark = True
    settings = Settings(model=MODEL, batch_size=batch, precision="bf16", channels_last=True, lr=0.001)
    found = Learner(settings, classes, 3, World(torch.device(loader.DEVICE)))
    found.begin(1 << 20)
    found.network.train()
    return found


def rates(setting: Setting, torch) -> dict:
    """Milliseconds of a step on a batch in memory, and images/s of a Loader that nobody waits for: each alone, and both
    at once."""
    path = prepare.packed(setting, setting.photos, "jpeg")
    found: dict = {}
    model = None
    ops = "rrc:224,flip,normalize"
    for decoder in ("cpu", "gpu"):
        with loader.opened(setting, path, LARGE, ops, decoder, shuffle=True, seed=1) as batches:
            images, labels = next(iter(batches))
            model = model or learner(torch, len(batches.classes), LARGE)
            images = images.contiguous(memory_format=torch.channels_last)
            if not found:
                steps(torch, model, images, labels, 5)  # which search for fast kernels
                found["step_ms_alone"] = 1e3 * steps(torch, model, images, labels, STEPS)
            with Consumer(torch, batches) as alone:
                time.sleep(setting.turn)
            with Consumer(torch, batches) as both:
                step = steps(torch, model, images, labels, STEPS)
            rates = {"images_per_second_alone": alone.rate, "images_per_second": both.rate}
            found[decoder] = {**rates, "step_ms": 1e3 * step}
    return found


def steps(torch, model, images, labels, count: int) -> float:
    """Seconds of a step."""
    torch.cuda.synchronize()
    began = time.perf_counter()
    for _ in range(count):
        model.learn(images, labels)
    torch.cuda.synchronize()
    return (time.perf_counter() - began) / count


class Consumer:
    """Takes batches as fast as they come, on a thread and a stream of its own, until the end of the context."""

    def __init__(self, torch, batches) -> None:
        self.torch, self.batches, self.ended, self.images = torch, batches, False, 0
        self.error: Exception | None = None
        self.thread = threading.Thread(target=self.consume)

    def __enter__(self) -> Consumer:
        self.began = time.perf_counter()
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.ended = True
        spent = time.perf_counter() - self.began
        self.rate = self.images / spent
        self.thread.join()
        if self.error is not None:
            raise self.error

    def consume(self) -> None:
        stream = self.torch.cuda.Stream() if loader.DEVICE == "cuda" else None
        try:
            with self.torch.cuda.stream(stream) if stream else nullcontext():
                while not self.ended:
                    for _, labels in self.batches:
                        if stream:
                            stream.synchronize()
                        self.images += len(labels)
                        if self.ended:
                            break
        except Exception as error:
            self.error = error


def pixels(setting: Setting, torch) -> dict:
    """Batches by the GPU while a network is trained with them, compared with the same ones without a training."""
    path = prepare.packed(setting, setting.photos, "jpeg")
    alone, _, first = sums(setting, torch, path, train=False)
    beside, decoded, seconds = sums(setting, torch, path, train=True)
    found = {
        "batches": len(beside), "different": int((alone != beside).sum()), "decoded": decoded,
        "seconds_alone": first, "seconds": seconds,
    }  # fmt: skip
    if found["different"] or "not written" in (decoded or {}).get("reasons", {}):
        raise RuntimeError(f"batches that were decoded beside a training differ: {found}")
    return found


def sums(setting: Setting, torch, path: str, train: bool) -> tuple:
    """A number for each batch, which nearly any other pixel would change, what decoded them, and the seconds."""
    options = {"shuffle": True, "seed": 1, "dtype": "uint8"}
    with loader.opened(setting, path, BATCH, "rrc:224,flip", "gpu", **options) as batches:
        model = learner(torch, len(batches.classes), BATCH) if train else None
        found, weights, began = [], None, time.perf_counter()
        for images, labels in itertools.islice(itertools.chain.from_iterable(itertools.repeat(batches)), BATCHES):
            if weights is None or weights.shape != images.shape:
                weights = (torch.arange(images.numel(), device=images.device) % 1021 + 1).view(images.shape)
            found.append((images.long() * weights).sum())
            if model:
                model.learn((images.float() / 255).contiguous(memory_format=torch.channels_last), labels)
        found = torch.stack(found).cpu()
        return found, batches.stats().get("decoded"), time.perf_counter() - began
