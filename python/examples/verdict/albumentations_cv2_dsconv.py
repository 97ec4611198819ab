"""albumentations_cv2.py with the loader and the transforms that dsconv bench recommends.

python albumentations_cv2_dsconv.py
dsconv bench --script albumentations_cv2_dsconv.py:loader --step train_step
"""

import dsconv
import torch
from torch import nn

FOLDER = "images/train"

loader = dsconv.Loader(FOLDER, batch_size=64, transforms="rrc:224,flip,jitter:0.2,normalize", shuffle=True)

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
