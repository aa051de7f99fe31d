#!/usr/bin/python3
"""Measures how hard the glyphs are: a linear model must stay under 90 %, a small CNN must pass 97 %.

    tools/measure_glyphs.py FOLDER [linear] [mlp] [cnn]

FOLDER holds train_x.npy [n,C,H,W] bytes, train_y.npy [n], test_x.npy, test_y.npy. Needs python3-torch.
Trains the models named, or all three. Exit status 1 when the data is too easy or too hard.
"""
import sys
import time

import numpy as np
import torch
from torch import nn

LINEAR_MOST, CNN_LEAST = 0.90, 0.97


def load(folder, part):
    x = torch.from_numpy(np.load(f"{folder}/{part}_x.npy")).float() / 255.0
    y = torch.from_numpy(np.load(f"{folder}/{part}_y.npy").astype(np.int64))
    return x, y


def standardise(x, mean, std):
    return (x - mean) / std


def train(model, x, y, epochs, lr, decay, batch=128):
    steps = epochs * (len(x) // batch)
    opt = torch.optim.Adam(model.parameters(), lr=lr, weight_decay=decay)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(opt, steps)
    loss = nn.CrossEntropyLoss()
    model.train()
    for _ in range(epochs):
        for index in torch.randperm(len(x)).split(batch)[: len(x) // batch]:
            opt.zero_grad()
            loss(model(x[index]), y[index]).backward()
            opt.step()
            schedule.step()


def accuracy(model, x, y):
    model.eval()
    with torch.no_grad():
        right = sum((model(a).argmax(1) == b).sum().item() for a, b in zip(x.split(500), y.split(500)))
    return right / len(x)


def linear(x):
    return nn.Sequential(nn.Flatten(), nn.Linear(x[0].numel(), 10))


def mlp(x):
    return nn.Sequential(nn.Flatten(), nn.Linear(x[0].numel(), 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(),
                         nn.Linear(256, 10))


def cnn(x):
    def block(a, b):
        return [nn.Conv2d(a, b, 3, padding=1), nn.BatchNorm2d(b), nn.ReLU(), nn.MaxPool2d(2)]
    side = x.shape[2] // 8
    return nn.Sequential(*block(x.shape[1], 16), *block(16, 32), *block(32, 64), nn.Flatten(),
                         nn.Linear(64 * side * side, 10))


def main():
    folder = sys.argv[1]
    torch.manual_seed(1)
    torch.set_num_threads(2)
    x, y = load(folder, "train")
    test_x, test_y = load(folder, "test")
    mean, std = x.mean((0, 2, 3), keepdim=True), x.std((0, 2, 3), keepdim=True)
    x, test_x = standardise(x, mean, std), standardise(test_x, mean, std)
    result = {}
    cases = [("linear", linear, 10, 1e-3, 1e-4), ("mlp", mlp, 10, 1e-3, 1e-4), ("cnn", cnn, 8, 3e-3, 1e-4)]
    for name, make, epochs, lr, decay in cases:
        if sys.argv[2:] and name not in sys.argv[2:]:
            continue
        model, start = make(x), time.time()
        train(model, x, y, epochs, lr, decay)
        result[name] = accuracy(model, test_x, test_y)
        print(f"{name:6} {sum(p.numel() for p in model.parameters()):7} parameters, {epochs:2} epochs: "
              f"train {accuracy(model, x, y):.4f}  test {result[name]:.4f}  ({time.time() - start:.0f} s)", flush=True)
    good = result.get("linear", 0.0) < LINEAR_MOST and result.get("cnn", 1.0) > CNN_LEAST
    print("as wanted" if good else "NOT as wanted: linear must stay under 90 %, cnn must pass 97 %")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
