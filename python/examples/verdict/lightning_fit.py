"""A training with Lightning: a LightningModule and a LightningDataModule.

python lightning_fit.py
dsconv bench --script lightning_fit.py:train_loader --step train_step
"""

import lightning
import torch
from torch import nn
from torch.utils.data import DataLoader
from torchvision import datasets
from torchvision.transforms import v2

FOLDER = "images/train"


class Photos(lightning.LightningDataModule):
    def setup(self, stage=None):
        augment = v2.Compose(
            [
                v2.RandomResizedCrop(224, antialias=True),
                v2.RandomHorizontalFlip(),
                v2.ToImage(),
                v2.ToDtype(torch.float32, scale=True),
                v2.Normalize((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)),
            ]
        )
        self.train = datasets.ImageFolder(FOLDER, augment)

    def train_dataloader(self):
        return DataLoader(self.train, batch_size=64, shuffle=True, num_workers=2, persistent_workers=True)


class Classifier(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.network = nn.Sequential(
            nn.Conv2d(3, 16, 8, stride=8),
            nn.BatchNorm2d(16),
            nn.ReLU(),
            nn.Conv2d(16, 32, 3, padding=1),
            nn.ReLU(),
            nn.AdaptiveAvgPool2d(1),
            nn.Flatten(),
            nn.Linear(32, 10),
        )

    def training_step(self, batch, batch_idx):
        images, labels = batch
        return nn.functional.cross_entropy(self.network(images), labels)

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=1e-3)


def train_loader():
    """The DataLoader that the Trainer would use."""
    photos = Photos()
    photos.setup()
    return photos.train_dataloader()


model = Classifier()
optimizer = model.configure_optimizers()


def train_step(batch):
    """What the Trainer does with a batch."""
    optimizer.zero_grad()
    loss = model.training_step(batch, 0)
    loss.backward()
    optimizer.step()


if __name__ == "__main__":
    trainer = lightning.Trainer(max_epochs=3, accelerator="cpu", logger=False, enable_checkpointing=False)
    trainer.fit(model, datamodule=Photos())
