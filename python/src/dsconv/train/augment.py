"""The transforms of the images: torchvision's for the DataLoader, and dsconv's ops, which are the same."""

from __future__ import annotations

from typing import Any

# Means and standard deviations of ImageNet's channels.
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def words(size: int) -> tuple[str, str]:
    """dsconv's ops for training and for evaluation: those that `training` and `evaluation` are translated to."""
    return f"rrc:{size},flip,normalize", f"resize:{size * 8 // 7},centercrop:{size},normalize"


def training(size: int) -> Any:
    """Random crops and flips, as in torchvision's reference scripts."""
    from torchvision import transforms

    crops = [transforms.RandomResizedCrop(size), transforms.RandomHorizontalFlip()]
    return transforms.Compose([*crops, *normalised(MEAN, STD)])


def evaluation(size: int) -> Any:
    """The center of the image."""
    from torchvision import transforms

    crops = [transforms.Resize(size * 8 // 7), transforms.CenterCrop(size)]
    return transforms.Compose([*crops, *normalised(MEAN, STD)])


def normalised(mean: tuple[float, ...], std: tuple[float, ...]) -> list[Any]:
    from torchvision import transforms

    return [transforms.ToTensor(), transforms.Normalize(mean, std)]
