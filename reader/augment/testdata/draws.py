"""Writes what torchvision's get_params draw, as JSON: a list of numbers for each name."""

import json
import sys

import torch
from torchvision.transforms import RandomCrop, RandomErasing, RandomResizedCrop, RandomRotation

torch.manual_seed(5)
n = int(sys.argv[1])
image = torch.empty(3, 375, 500)
draws = {}


def add(op, names, params):
    rows = [params() for _ in range(n)]
    for k, name in enumerate(names):
        draws[f"{op} {name}"] = [float(row[k]) for row in rows]


def erased():
    return RandomErasing.get_params(image, (0.02, 0.33), (0.3, 3.3), [0.0])[:4]


add("rrc", "yxhw", lambda: RandomResizedCrop.get_params(image, [0.08, 1.0], [3.0 / 4.0, 4.0 / 3.0]))
add("crop", "yx", lambda: RandomCrop.get_params(image, (300, 400))[:2])
add("rotate", ["angle"], lambda: (RandomRotation.get_params([-30, 75]),))
add("erase", "yxhw", erased)
json.dump(draws, sys.stdout)
