"""A training as in the tutorials: an ImageFolder, a DataLoader, a for loop.

python plain.py
dsconv bench --script plain.py:loader --step train_step
"""

import torch
from torch import nn
from torch.utils.data import DataLoader
from torchvision import datasets, transforms

FOLDER = "images/train"

augment = transforms.Compose(
    [
        transforms.RandomResizedCrop(224),
        transforms.RandomHorizontalFlip(),
        transforms.ToTensor(),
        transforms.Normalize((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)),
    ]
)
loader = DataLoader(datasets.ImageFolder(FOLDER, augment), batch_size=64, shuffle=True, num_workers=2)


class Block(nn.Module):
    """Two convolutions and a shortcut, as in a ResNet."""

    def __init__(self, channels):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(channels, channels, 3, padding=1, bias=False),
            nn.BatchNorm2d(channels),
            nn.ReLU(),
            nn.Conv2d(channels, channels, 3, padding=1, bias=False),
            nn.BatchNorm2d(channels),
        )

    def forward(self, x):
        return torch.relu(x + self.body(x))


model = nn.Sequential(
    nn.Conv2d(3, 16, 8, stride=8), Block(16), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 10)
)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)


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
