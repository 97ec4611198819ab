"""torchvision's MixUp or CutMix of a batch, with given parameters instead of drawn ones.

python mix.py FOLDER...: each FOLDER/job.json says what to do; images.bin and labels.bin hold the
batch, mixed.bin and soft.bin get what becomes of it.
"""

import json
import pathlib
import sys

import torch
from torchvision.transforms import v2


def mix(folder):
    job = json.loads((folder / "job.json").read_text())

    def load(name, dtype):
        return torch.frombuffer(bytearray((folder / name).read_bytes()), dtype=dtype)

    def save(name, tensor):
        (folder / name).write_bytes(tensor.contiguous().view(torch.uint8).numpy().tobytes())

    images = load("images.bin", getattr(torch, job["dtype"])).reshape(job["shape"])
    op = getattr(v2, job["op"])(num_classes=job["classes"])
    op.make_params = lambda inputs: job["params"]
    mixed, soft = op(images, load("labels.bin", torch.int64))
    save("mixed.bin", mixed)
    save("soft.bin", soft)


for name in sys.argv[1:]:
    mix(pathlib.Path(name))
