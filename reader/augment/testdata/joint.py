"""Moves boxes, masks and images together as a JSON list of jobs on stdin says, with torchvision.transforms.v2.

Masks are resized by NEAREST_EXACT, which takes the pixels in the middle as Pillow does. torchvision's own NEAREST, the
filter of tv_tensors.Mask, takes others: those half a pixel up and left.
"""

import json
import sys

import torch
from torchvision import tv_tensors
from torchvision.transforms import InterpolationMode
from torchvision.transforms.v2 import functional as F


def resize(x, h, w):
    if isinstance(x, tv_tensors.BoundingBoxes):
        return F.resize(x, [h, w])
    plain = x.as_subclass(torch.Tensor)
    return tv_tensors.wrap(F.resize(plain, [h, w], interpolation=InterpolationMode.NEAREST_EXACT), like=x)


def center_crop(x, h, w):
    """Pads what is too small first: torchvision does that to images and masks too, but moves boxes by another pixel."""
    height, width = F.get_size(x)
    if height < h or width < w:
        y, left = max(0, h - height), max(0, w - width)
        x = F.pad(x, [left // 2, y // 2, (left + 1) // 2, (y + 1) // 2])
    return F.center_crop(x, [h, w])


def turn(x, orientation):
    """Does what Pillow's exif_transpose does, by torchvision's kernels."""
    if orientation > 4:  # the four that swap the sides
        x = F.vertical_flip(F.rotate(x, 90, expand=True))
        orientation = {5: 1, 6: 2, 7: 3, 8: 4}[orientation]
    if orientation in (2, 3):
        x = F.horizontal_flip(x)
    if orientation in (3, 4):
        x = F.vertical_flip(x)
    return x


OPS = {
    "crop": lambda x, y, left, h, w: F.crop(x, y, left, h, w),
    "centercrop": center_crop,
    "resize": resize,
    "flip": F.horizontal_flip,
    "vflip": F.vertical_flip,
    "pad": lambda x, left, top, right, bottom: F.pad(x, [left, top, right, bottom]),
    "rotate": lambda x, angle, expand, center: F.rotate(x, angle, expand=expand, center=center),
    "turn": turn,
}

results = []
for job in json.load(sys.stdin):
    size = (job["h"], job["w"])
    boxes = tv_tensors.BoundingBoxes(torch.tensor(job["boxes"]).reshape(-1, 4), format="XYXY", canvas_size=size)
    pixels = torch.tensor(job["pixels"], dtype=torch.uint8).reshape(1, *size)
    mask, image = tv_tensors.Mask(pixels), tv_tensors.Image(pixels)
    for op, *args in job["ops"]:
        boxes, mask, image = (OPS[op](x, *args) for x in (boxes, mask, image))
    boxes = F.clamp_bounding_boxes(boxes)
    results.append(
        {
            "boxes": boxes.flatten().tolist(),
            "size": list(boxes.canvas_size),
            "mask": mask.flatten().tolist(),
            "image": image.flatten().tolist(),
        }
    )
json.dump(results, sys.stdout)
