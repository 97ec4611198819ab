"""A training script whose DataLoader is slow in one part: the function says in which. The rig measures each of them as
`dsconv bench --script subject.py:NAME` does."""

import os
import time
from pathlib import Path

import dsconv
import numpy as np
import torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset, default_collate

IMAGES = os.environ.get("BOTTLENECK_IMAGES", "")
ROWS, ROW = 900, 1 << 20  # of the array that does not fit into the memory that the process may have


def spin(seconds):
    """Computes for that much CPU time."""
    until = time.thread_time() + seconds
    while time.thread_time() < until:
        sum(range(100))


class Heavy:
    """A transform in Python that computes."""

    def __init__(self, seconds):
        self.seconds = seconds

    def __call__(self, image):
        spin(self.seconds)
        return image


def to_tensor(image):
    return torch.from_numpy(np.array(image.resize((64, 64)))).permute(2, 0, 1).float() / 255


def from_disk(path):
    return open(path, "rb")


def from_far_away(path):
    """Opens a file as a client of a slow object store does."""
    time.sleep(0.02)
    return open(path, "rb")


class Photos(Dataset):
    """The usual dataset of a tutorial: opens a file, decodes it, transforms it."""

    def __init__(self, opener=from_disk, transform=None):
        self.files = sorted(Path(IMAGES).rglob("*.jpg"))
        self.opener, self.transform = opener, transform

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        path = self.files[index]
        with self.opener(path) as file:
            image = Image.open(file).convert("RGB")
        if self.transform is not None:
            image = self.transform(image)
        return to_tensor(image), int(path.parent.name[-1].isdigit())


class InMemory(Dataset):
    """Samples are rows of an array, which every process sees."""

    def __init__(self):
        self.rows = np.empty((ROWS, ROW), np.uint8)
        for k in range(ROWS):
            self.rows[k] = k % 251

    def __len__(self):
        return ROWS

    def __getitem__(self, index):
        return torch.from_numpy(self.rows[index].copy())[::64].float()


def slow_collate(samples):
    spin(0.02 * len(samples))
    return default_collate(samples)


def slow_init(worker):
    """Opens connections, imports packages, reads an index."""
    time.sleep(1.5)


def loader(dataset, **options):
    settings = {"batch_size": 4, "num_workers": 2, "persistent_workers": True, **options}
    return DataLoader(dataset, shuffle=True, **settings)


def plain():
    return loader(Photos())


def slow_open():
    return loader(Photos(opener=from_far_away))


def heavy_transform():
    return loader(Photos(transform=Heavy(0.02)))


def collate():
    return loader(Photos(), collate_fn=slow_collate)


def slow_start():
    return loader(Photos(), worker_init_fn=slow_init, persistent_workers=False)


def many_workers():
    return loader(Photos(transform=Heavy(0.002)), num_workers=6)


def in_memory():
    return loader(InMemory())


def dsconv_heavy_transform():
    return dsconv.Loader(IMAGES, 4, shuffle=True, num_workers=2, transform=[Heavy(0.02), to_tensor])


def waiting_step(batch):
    """A GPU's work: the process waits for it."""
    time.sleep(0.02 * len(batch[0]))


def computing_step(batch):
    spin(0.02 * len(batch[0]))


def slow_transfer(batch):
    """Copies over a slow bus: the loop waits until they are done."""
    time.sleep(0.02 * len(batch[0]))
    return batch
