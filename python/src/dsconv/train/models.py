"""The networks, by name."""

from __future__ import annotations

from torch import nn

MODELS = ("mlp", "resnet18", "resnet50")
# Width and height of the input images, and learning rates for SGD with momentum and 256 images per step.
SIZES = {"mlp": 28, "resnet18": 224, "resnet50": 224}
RATES = {"mlp": 0.24, "resnet18": 0.1, "resnet50": 0.1}


def build(name: str, classes: int, channels: int, size: int) -> nn.Module:
    """A network for images of channels x size x size, with weights from torch's random generator."""
    if name == "mlp":
        return mlp(classes, channels, size)
    from torchvision import models

    network = models.get_model(name, weights=None, num_classes=classes)
    if channels != 3:
        network.conv1 = nn.Conv2d(channels, 64, kernel_size=7, stride=2, padding=3, bias=False)
    return network


def mlp(classes: int, channels: int, size: int, hidden: int = 256) -> nn.Module:
    """Two hidden layers, as in the tutorials on MNIST."""
    return nn.Sequential(
        nn.Flatten(),
        nn.Linear(channels * size * size, hidden),
        nn.ReLU(),
        nn.Linear(hidden, hidden),
        nn.ReLU(),
        nn.Linear(hidden, classes),
    )
