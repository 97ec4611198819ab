"""A training with a dataset of its own: OpenCV decodes, Albumentations augments.

python albumentations_cv2.py
dsconv bench --script albumentations_cv2.py:loader --step train_step
"""

from pathlib import Path

import albumentations as A
import cv2
import torch
from albumentations.pytorch import ToTensorV2
from torch import nn
from torch.utils.data import DataLoader, Dataset

FOLDER = "images/train"


class Photos(Dataset):
    def __init__(self, folder, transform):
        self.paths = sorted(Path(folder).glob("*/*.jpg"))
        self.classes = sorted({path.parent.name for path in self.paths})
        self.transform = transform

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        path = self.paths[index]
        image = cv2.cvtColor(cv2.imread(str(path)), cv2.COLOR_BGR2RGB)
        return self.transform(image=image)["image"], self.classes.index(path.parent.name)


augment = A.Compose(
    [
        A.RandomResizedCrop((224, 224)),
        A.HorizontalFlip(p=0.5),
        A.ColorJitter(brightness=0.2, contrast=0.2, saturation=0.2, hue=0.0, p=1.0),
        A.Normalize(),
        ToTensorV2(),
    ]
)
loader = DataLoader(Photos(FOLDER, augment), batch_size=64, shuffle=True, num_workers=2)

model = nn.Sequential(
    nn.Conv2d(3, 16, 8, stride=8),
    nn.ReLU(),
    nn.Conv2d(16, 32, 3, stride=2),
    nn.ReLU(),
    nn.AdaptiveAvgPool2d(1),
    nn.Flatten(),
    nn.Linear(32, 10),
)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)


def train_step(batch):
    images, labels = batch
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(images), labels)
    loss.backward()
    optimizer.step()
    return loss


if __name__ == "__main__":
    for epoch in range(3):
        for batch in loader:
            loss = train_step(batch)
        print(f"epoch {epoch}: loss {loss.item():.3f}")
