"""ResNet and MobileNetV3 in plain torch, so that the trainer runs without torchvision.

Layers have torchvision's names and initial values: with the same seed both give the same weights.
"""

from __future__ import annotations

from collections import OrderedDict
from functools import partial

import torch
from torch import nn

# Channels and stride of the four stages.
STAGES = ((64, 1), (128, 2), (256, 2), (512, 2))

# MobileNetV3's blocks: kernel, expanded channels, output channels, squeeze-and-excitation, hard swish, stride.
LARGE = (
    (3, 16, 16, False, False, 1),
    (3, 64, 24, False, False, 2),
    (3, 72, 24, False, False, 1),
    (5, 72, 40, True, False, 2),
    (5, 120, 40, True, False, 1),
    (5, 120, 40, True, False, 1),
    (3, 240, 80, False, True, 2),
    (3, 200, 80, False, True, 1),
    (3, 184, 80, False, True, 1),
    (3, 184, 80, False, True, 1),
    (3, 480, 112, True, True, 1),
    (3, 672, 112, True, True, 1),
    (5, 672, 160, True, True, 2),
    (5, 960, 160, True, True, 1),
    (5, 960, 160, True, True, 1),
)
SMALL = (
    (3, 16, 16, True, False, 2),
    (3, 72, 24, False, False, 2),
    (3, 88, 24, False, False, 1),
    (5, 96, 40, True, True, 2),
    (5, 240, 40, True, True, 1),
    (5, 240, 40, True, True, 1),
    (5, 120, 48, True, True, 1),
    (5, 144, 48, True, True, 1),
    (5, 288, 96, True, True, 2),
    (5, 576, 96, True, True, 1),
    (5, 576, 96, True, True, 1),
)


class Residual(nn.Module):  # type: ignore[misc]
    """A block of ResNet: a bottleneck of 1x1, 3x3 and 1x1 convolutions, or two 3x3 convolutions."""

    def __init__(self, inputs: int, channels: int, stride: int, bottleneck: bool, downsample: nn.Module | None) -> None:
        super().__init__()
        conv = partial(nn.Conv2d, bias=False)
        if bottleneck:
            self.conv1, self.bn1 = conv(inputs, channels, 1), nn.BatchNorm2d(channels)
            self.conv2, self.bn2 = conv(channels, channels, 3, stride, 1), nn.BatchNorm2d(channels)
            self.conv3, self.bn3 = conv(channels, 4 * channels, 1), nn.BatchNorm2d(4 * channels)
        else:
            self.conv1, self.bn1 = conv(inputs, channels, 3, stride, 1), nn.BatchNorm2d(channels)
            self.conv2, self.bn2 = conv(channels, channels, 3, 1, 1), nn.BatchNorm2d(channels)
        self.bottleneck = bottleneck
        self.relu = nn.ReLU(inplace=True)
        self.downsample = downsample

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x)))))
        if self.bottleneck:
            y = self.bn3(self.conv3(self.relu(y)))
        return self.relu(y + (x if self.downsample is None else self.downsample(x)))


def resnet(blocks: tuple[int, ...], bottleneck: bool, classes: int, channels: int = 3) -> nn.Module:
    """ResNet with that many blocks in each stage."""
    layers: list[tuple[str, nn.Module]] = [
        ("conv1", nn.Conv2d(channels, 64, 7, 2, 3, bias=False)),
        ("bn1", nn.BatchNorm2d(64)),
        ("relu", nn.ReLU(inplace=True)),
        ("maxpool", nn.MaxPool2d(3, 2, 1)),
    ]
    inputs = 64
    for number, (count, (width, stride)) in enumerate(zip(blocks, STAGES), 1):
        outputs = 4 * width if bottleneck else width
        stage = []
        for step in (stride, *[1] * (count - 1)):
            downsample = None
            if step != 1 or inputs != outputs:
                downsample = nn.Sequential(nn.Conv2d(inputs, outputs, 1, step, bias=False), nn.BatchNorm2d(outputs))
            stage.append(Residual(inputs, width, step, bottleneck, downsample))
            inputs = outputs
        layers.append((f"layer{number}", nn.Sequential(*stage)))
    layers += [("avgpool", nn.AdaptiveAvgPool2d(1)), ("flatten", nn.Flatten()), ("fc", nn.Linear(inputs, classes))]
    return initialised(nn.Sequential(OrderedDict(layers)))


class Squeeze(nn.Module):  # type: ignore[misc]
    """Squeeze and excitation: scales the channels by what their means say."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        squeezed = divisible(channels / 4)
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.fc1, self.fc2 = nn.Conv2d(channels, squeezed, 1), nn.Conv2d(squeezed, channels, 1)
        self.activation, self.scale_activation = nn.ReLU(), nn.Hardsigmoid()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        scale: torch.Tensor = self.scale_activation(self.fc2(self.activation(self.fc1(self.avgpool(x)))))
        return x * scale


class Inverted(nn.Module):  # type: ignore[misc]
    """A block of MobileNetV3: expand, convolve each channel, squeeze, project."""

    def __init__(self, inputs: int, block: tuple[int, int, int, bool, bool, int]) -> None:
        super().__init__()
        kernel, expanded, outputs, squeeze, swish, stride = block
        layers: list[nn.Module] = [] if expanded == inputs else [normed(inputs, expanded, 1, swish=swish)]
        layers.append(normed(expanded, expanded, kernel, stride, groups=expanded, swish=swish))
        if squeeze:
            layers.append(Squeeze(expanded))
        layers.append(normed(expanded, outputs, 1, swish=None))
        self.block = nn.Sequential(*layers)
        self.adds = stride == 1 and inputs == outputs

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y: torch.Tensor = self.block(x)
        return y + x if self.adds else y


def mobilenet(
    blocks: tuple[tuple[int, int, int, bool, bool, int], ...], hidden: int, classes: int, channels: int = 3
) -> nn.Module:
    """MobileNetV3 of those blocks, with that many channels before the last layer."""
    layers, inputs = [normed(channels, 16, 3, 2, swish=True)], 16
    for block in blocks:
        layers.append(Inverted(inputs, block))
        inputs = block[2]
    layers.append(normed(inputs, 6 * inputs, 1, swish=True))
    classifier = nn.Sequential(
        nn.Linear(6 * inputs, hidden),
        nn.Hardswish(inplace=True),
        nn.Dropout(0.2, inplace=True),
        nn.Linear(hidden, classes),
    )
    parts = {"features": nn.Sequential(*layers), "avgpool": nn.AdaptiveAvgPool2d(1), "flatten": nn.Flatten()}
    return initialised(nn.Sequential(OrderedDict(parts, classifier=classifier)))


def normed(
    inputs: int, outputs: int, kernel: int, stride: int = 1, groups: int = 1, swish: bool | None = True
) -> nn.Module:
    """A convolution, batch norm, and hard swish, ReLU or, for None, no activation."""
    layers: list[nn.Module] = [
        nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False),
        nn.BatchNorm2d(outputs, eps=0.001, momentum=0.01),
    ]
    if swish is not None:
        layers.append(nn.Hardswish(inplace=True) if swish else nn.ReLU(inplace=True))
    return nn.Sequential(*layers)


def divisible(channels: float) -> int:
    """The nearest multiple of 8 that is not less than nine tenths of it."""
    nearest = max(8, int(channels + 4) // 8 * 8)
    return nearest if nearest >= 0.9 * channels else nearest + 8


def initialised(network: nn.Module) -> nn.Module:
    """The network with initial weights as in torchvision. ResNet's last layer keeps torch's own."""
    for layer in network.modules():
        if isinstance(layer, nn.Conv2d):
            nn.init.kaiming_normal_(layer.weight, mode="fan_out", nonlinearity="relu")
            if layer.bias is not None:
                nn.init.zeros_(layer.bias)
        elif isinstance(layer, nn.Linear) and hasattr(network, "features"):
            nn.init.normal_(layer.weight, 0, 0.01)
            nn.init.zeros_(layer.bias)
    return network
