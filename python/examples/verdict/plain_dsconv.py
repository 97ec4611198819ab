"""plain.py with the loader that dsconv bench recommends.

python plain_dsconv.py
dsconv bench --script plain_dsconv.py:loader --step train_step
"""

import dsconv
import torch
from torch import nn
from torchvision import transforms

FOLDER = "images/train"

augment = transforms.Compose(
    [
        transforms.RandomResizedCrop(224),
        transforms.RandomHorizontalFlip(),
        transforms.ToTensor(),
        transforms.Normalize((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)),
    ]
)
loader = dsconv.Loader(FOLDER, batch_size=64, transforms=augment, shuffle=True)


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
