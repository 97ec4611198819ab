"""Batches on a real GPU. Without one all of this is skipped; test_device_copies.py and test_device_transforms.py test
the same on a fake one."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dsconv
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
if not torch.cuda.is_available():
    pytest.skip("PyTorch finds no GPU", allow_module_level=True)

from device_pipelines import NORMALIZE, PIPELINES, bits, epochs  # noqa: E402

BUSY = 20_000_000  # cycles of the GPU, about 10 ms: longer than the work on a batch


def loader(path: Path, **options: Any) -> Any:
    options = {"batch_size": 7, "shuffle": True, "seed": 5, "num_workers": 2, "device": "cuda", **options}
    return dsconv.Loader(path, **options)


def train(path: Path, epochs: int = 2, **options: Any) -> list[list[Any]]:
    """What the steps of a training see that are slower than the loader, and drop each batch at once."""
    asked = loader(path, **options)
    seen = []
    for _ in range(epochs):
        for batch in asked:
            torch.cuda._sleep(BUSY)
            seen.append([value.clone() for value in batch])
            del batch
    return [[value.cpu() for value in batch] for batch in seen]


def same(got: list[list[Any]], want: list[list[Any]]) -> None:
    assert len(got) == len(want)
    for x, y in zip(got, want):
        for a, b in zip(x, y):
            assert (a.dtype, a.shape, a.stride()) == (b.dtype, b.shape, b.stride())
            assert torch.equal(bits(a), bits(b))


@pytest.mark.parametrize("options", [{}, {"pin_memory": False}, {"num_workers": 0}, {"dtype": "float16"}])
def test_copies_are_whole(packed: Path, options: dict[str, Any]) -> None:
    same(train(packed, transforms=NORMALIZE, **options), epochs(packed, transforms=NORMALIZE, **options))


@pytest.mark.parametrize("layout", [None, torch.channels_last])
@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("pipeline", PIPELINES)
def test_images_are_those_of_the_cpu(packed: Path, pipeline: str, dtype: str, layout: Any) -> None:
    options = {"transforms": PIPELINES[pipeline], "dtype": dtype, "memory_format": layout}
    same(train(packed, normalize="device", **options), epochs(packed, **options))


def test_the_loop_may_use_a_stream_of_its_own(packed: Path) -> None:
    with torch.cuda.stream(torch.cuda.Stream()):
        got = train(packed, transforms=NORMALIZE, normalize="device")
    same(got, epochs(packed, transforms=NORMALIZE))


@pytest.fixture
def no_waiting() -> Iterator[None]:
    """Makes it an error that the host waits for the GPU."""
    before = torch.cuda.get_sync_debug_mode()
    torch.cuda.set_sync_debug_mode("error")
    yield
    torch.cuda.set_sync_debug_mode(before)


@pytest.mark.parametrize("normalize", [None, "device"])
@pytest.mark.parametrize("pipeline", ["all", "noise", "bytes"])
def test_the_host_does_not_wait(packed: Path, pipeline: str, normalize: str | None, no_waiting: None) -> None:
    for _ in loader(packed, transforms=PIPELINES[pipeline], normalize=normalize):
        torch.cuda._sleep(BUSY)


def test_epochs_and_loops_that_end_early_take_no_more_memory(packed: Path) -> None:
    asked = loader(packed, transforms="rrc:224,flip,normalize", normalize="device", batch_size=16)

    def use() -> int:
        for _ in range(3):
            for batch in asked:
                batch[0].sum()
        for _ in range(3):
            next(iter(asked))
        torch.cuda.synchronize()
        return torch.cuda.memory_reserved()

    use()
    first = use()
    # How many batches are there at once depends on the time that the GPU takes; a leak would grow with the epochs.
    assert all(use() <= 2 * first for _ in range(12))


def test_views(packed: Path) -> None:
    options = {"views": [f"{NORMALIZE},erase:0.5", "rrc:16,flip,normalize"]}
    asked, want = loader(packed, normalize="device", **options), loader(packed, **{**options, "device": None})
    for (got, _), (images, _) in zip(asked, want):
        assert all(torch.equal(a.cpu(), b) for a, b in zip(got, images))


def test_wrong_devices(packed: Path) -> None:
    with pytest.raises(ValueError, match="device='cuda:99': PyTorch finds"):
        loader(packed, transforms=NORMALIZE, device="cuda:99")


def use_in_child(asked: Any, out: Any) -> None:
    try:
        next(iter(asked))
        out.put("no error")
    except Exception as error:
        out.put(f"{type(error).__name__}: {error}")


class TestDecoding:
    """decoder="gpu", which needs nvJPEG."""

    @pytest.fixture(autouse=True)
    def nvjpeg(self, packed: Path) -> None:
        try:
            loader(packed, transforms="centercrop:32", decoder="gpu").close()
        except dsconv.Error as error:
            if "nvJPEG" not in str(error):
                raise
            pytest.skip(str(error))

    @pytest.mark.parametrize("words", ["centercrop:32,normalize", "rrc:32,flip,normalize", NORMALIZE + ",erase:0.5"])
    def test_pixels_are_near_the_cpus(self, packed: Path, words: str) -> None:
        """nvJPEG's inverse cosine transform is not libjpeg's: docs/gpu.md has the differences that were measured."""
        got, want = train(packed, transforms=words, decoder="gpu"), epochs(packed, transforms=words)
        assert len(got) == len(want)
        for (images, labels), (wanted, named) in zip(got, want):
            assert torch.equal(labels, named) and images.stride() == wanted.stride()
            steps = (images - wanted).abs() * (0.225 * 255)  # in steps of a byte
            assert steps.max() < 16 and steps.mean() < 0.5

    def test_the_gpu_decodes_them(self, packed: Path) -> None:
        asked = loader(packed, transforms=NORMALIZE, decoder="gpu")
        for _ in asked:
            pass
        decoded = asked.stats()["decoded"]
        assert decoded["engine"] + decoded["cuda"] == 48 and decoded["cpu"] == 0, decoded

    def test_batches_may_be_kept(self, packed: Path) -> None:
        kept = [images for images, _ in loader(packed, transforms=NORMALIZE, decoder="gpu")]
        before = [images.clone() for images in kept]
        for _ in loader(packed, transforms=NORMALIZE, decoder="gpu"):
            torch.cuda._sleep(BUSY)
        assert all(map(torch.equal, kept, before))

    def test_a_forked_process_gets_a_plain_error(self, packed: Path) -> None:
        asked = loader(packed, transforms=NORMALIZE, decoder="gpu")
        fork = multiprocessing.get_context("fork")
        out = fork.Queue()
        child = fork.Process(target=use_in_child, args=(asked, out))
        child.start()
        assert 'start it by the method "spawn"' in out.get(timeout=300)
        child.join()
