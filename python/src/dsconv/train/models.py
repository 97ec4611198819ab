"""The networks, by name."""

from __future__ import annotations

from torch import nn

from dsconv.train.networks import LARGE, SMALL, mobilenet, resnet

MODELS = ("mlp", "mlp-128-64", "resnet18", "resnet50", "mobilenet_v3_small", "mobilenet_v3_large")
# Width and height of the input images, and learning rates for SGD with momentum and 256 images per step.
SIZES = {name: 28 if name.startswith("mlp") else 224 for name in MODELS}
RATES = {name: 0.24 if name.startswith("mlp") else 0.1 for name in MODELS}
ADAM_RATE = 1e-3  # the learning rate for Adam, of any network


def build(name: str, classes: int, channels: int, size: int) -> nn.Module:
    """A network for images of channels x size x size, with weights from torch's random generator."""
    if name == "mlp":
        return mlp(classes, channels, size, 256, 256)
    if name == "mlp-128-64":
        return mlp(classes, channels, size, 128, 64)
    if name == "resnet18":
        return resnet((2, 2, 2, 2), False, classes, channels)
    if name == "resnet50":
        return resnet((3, 4, 6, 3), True, classes, channels)
    large = name == "mobilenet_v3_large"
    return mobilenet(LARGE if large else SMALL, 1280 if large else 1024, classes, channels)


def mlp(classes: int, channels: int, size: int, first: int, second: int) -> nn.Module:
    """Two hidden layers of that many units, as in the tutorials on MNIST."""
    return nn.Sequential(
        nn.Flatten(),
        nn.Linear(channels * size * size, first),
        nn.ReLU(),
        nn.Linear(first, second),
        nn.ReLU(),
        nn.Linear(second, classes),
    )
