"""Moves boxes as a JSON list of jobs on stdin says, with torchvision.transforms.v2."""

import json
import sys

import torch
from torchvision import tv_tensors
from torchvision.transforms.v2 import functional as F

OPS = {
    "crop": lambda b, y, x, h, w: F.crop(b, y, x, h, w),
    "resize": lambda b, h, w: F.resize(b, [h, w]),
    "flip": F.horizontal_flip,
    "vflip": F.vertical_flip,
    "pad": lambda b, left, top, right, bottom: F.pad(b, [left, top, right, bottom]),
    "rotate": lambda b, angle, expand, center: F.rotate(b, angle, expand=expand, center=center),
}

results = []
for job in json.load(sys.stdin):
    boxes = tv_tensors.BoundingBoxes(
        torch.tensor(job["boxes"]).reshape(-1, 4), format="XYXY", canvas_size=(job["h"], job["w"])
    )
    for op, *args in job["ops"]:
        boxes = OPS[op](boxes, *args)
    results.append({"boxes": boxes.flatten().tolist(), "size": list(boxes.canvas_size)})
json.dump(results, sys.stdout)
