"""A ResNet-18 for small pictures as people write it in PyTorch, with torchvision's names, trained for a moment on the pictures
of shapes.py and saved as a checkpoint.

    python3 examples/guide/torch_shapes.py shapes.pth
"""
import random
import sys

import torch
from torch import nn

from shapes import SHAPES, SIDE, picture


class Block(nn.Module):
    def __init__(self, inputs, width, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, width, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.downsample = None
        if stride != 1 or inputs != width:
            self.downsample = nn.Sequential(nn.Conv2d(inputs, width, 1, stride, bias=False), nn.BatchNorm2d(width))

    def forward(self, x):
        y = self.bn2(self.conv2(torch.relu(self.bn1(self.conv1(x)))))
        return torch.relu(y + (x if self.downsample is None else self.downsample(x)))


class ResNet(nn.Module):
    def __init__(self, width, classes):
        super().__init__()
        self.conv1 = nn.Conv2d(3, width, 3, 1, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        for i in range(4):
            first = Block(width * 2 ** max(i - 1, 0), width * 2 ** i, 1 if i == 0 else 2)
            setattr(self, f"layer{i + 1}", nn.Sequential(first, Block(width * 2 ** i, width * 2 ** i, 1)))
        self.fc = nn.Linear(8 * width, classes)

    def forward(self, x):
        x = torch.relu(self.bn1(self.conv1(x)))
        for layer in (self.layer1, self.layer2, self.layer3, self.layer4):
            x = layer(x)
        return self.fc(x.mean((2, 3)))


def samples(count, seed):
    draw, x, y = random.Random(seed), [], []
    for k, shape in enumerate(SHAPES.values()):
        for _ in range(count):
            x.append(torch.tensor([list(row) for row in picture(draw, shape)]).view(SIDE, SIDE, 3).permute(2, 0, 1) / 255)
            y.append(k)
    return torch.stack(x), torch.tensor(y)


torch.manual_seed(1)
net, (inputs, classes) = ResNet(8, len(SHAPES)), samples(120, seed=5)
optimiser = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
for _ in range(8):
    for batch in torch.randperm(len(inputs)).split(40):
        optimiser.zero_grad()
        nn.functional.cross_entropy(net(inputs[batch]), classes[batch]).backward()
        optimiser.step()
net.eval()
with torch.no_grad():
    print(f"PyTorch: {(net(inputs).argmax(1) == classes).float().mean():.1%} of its training pictures")
torch.save({"state_dict": net.state_dict(), "epoch": 8}, sys.argv[1])
