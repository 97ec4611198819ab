"""Transforms with torchvision's names, parameters and meanings that run natively.

>>> from dsconv import transforms as T
>>> T.translate(T.Compose([T.RandomResizedCrop(224), T.RandomHorizontalFlip(), T.ToTensor()])).words
'rrc:224,flip'

They need neither torch nor torchvision. ``translate`` also takes torchvision's and Albumentations' transforms.
"""

from __future__ import annotations

from .automatic import RandAugment, TrivialAugmentWide
from .base import Transform
from .color import (
    ColorJitter,
    GaussianBlur,
    Grayscale,
    RandomAdjustSharpness,
    RandomAutocontrast,
    RandomEqualize,
    RandomGrayscale,
    RandomInvert,
    RandomPosterize,
    RandomSolarize,
)
from .compose import Compose, RandomApply
from .conversion import ConvertImageDtype, Normalize, PILToTensor, RandomErasing, ToDtype, ToTensor
from .geometry import (
    CenterCrop,
    RandomCrop,
    RandomHorizontalFlip,
    RandomResizedCrop,
    RandomRotation,
    RandomVerticalFlip,
    Resize,
)
from .interpolation import InterpolationMode
from .mixing import CutMix, MixUp, RandomChoice
from .plan import Plan
from .translating import translate

__all__ = [
    "CenterCrop",
    "ColorJitter",
    "Compose",
    "ConvertImageDtype",
    "CutMix",
    "GaussianBlur",
    "Grayscale",
    "InterpolationMode",
    "MixUp",
    "Normalize",
    "PILToTensor",
    "Plan",
    "RandAugment",
    "RandomAdjustSharpness",
    "RandomApply",
    "RandomAutocontrast",
    "RandomChoice",
    "RandomCrop",
    "RandomEqualize",
    "RandomErasing",
    "RandomGrayscale",
    "RandomHorizontalFlip",
    "RandomInvert",
    "RandomPosterize",
    "RandomResizedCrop",
    "RandomRotation",
    "RandomSolarize",
    "RandomVerticalFlip",
    "Resize",
    "ToDtype",
    "ToTensor",
    "Transform",
    "TrivialAugmentWide",
    "translate",
]
