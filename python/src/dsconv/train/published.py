"""What the tutorial's author published, and how a run differs from it."""

from __future__ import annotations

from dsconv.train.models import ADAM_RATE
from dsconv.train.settings import Settings

# Seconds of the whole training, by row of the preset: 0 workers; 8; 8 with pinned memory. dsconv was not measured.
SECONDS = (22.67, 9.14, 9.00, None)
SAMPLES = 60000  # MNIST's training images
# The other options of the published run.
RUN = {
    "model": "mlp-128-64",
    "optimizer": "adam",
    "lr": ADAM_RATE,
    "epochs": 5,
    "batch_size": 64,
    "num_workers": 8,
    "precision": "fp32",
    "accumulate": 1,
    "compile": None,
    "limit_batches": None,
}

DRAWN = (
    "the digits are drawn, they are not MNIST, so no published figure is beside these: "
    "--data DIR uses MNIST's IDX files"
)


def comparable(settings: Settings, samples: int) -> str:
    """A sentence on what the published figures are of, and what was different in this run."""
    sentence = (
        "published: by the tutorial's author, 5 epochs of MNIST's 60,000 images in batches of 64. "
        "Machines differ: compare the speed-ups, not the seconds"
    )
    other = differences(settings, samples)
    return f"{sentence}. Not the same here: {', '.join(other)}" if other else sentence


def differences(settings: Settings, samples: int) -> list[str]:
    """The options, and the number of training images, that are not those of the published run."""
    chosen = settings.to_json()
    found = [f"{name.replace('_', ' ')} {chosen[name]}" for name, theirs in RUN.items() if chosen[name] != theirs]
    return found if samples == SAMPLES else [*found, f"{samples:,} training images"]
