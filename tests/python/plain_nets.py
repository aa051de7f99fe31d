"""The convolutional models, and shallow, as anyone would write them in PyTorch, with the usual module names.

They know nothing of our code: load_state_dict of a file of ours into them is strict, and so is our
reading of a file of theirs. build(model, input, outputs) takes the `model:` section of a run file.
"""
import torch
from torch import nn
from torch.nn import functional as F


def conv(inputs, outputs, size, stride=1):
    return nn.Conv2d(inputs, outputs, size, stride, size // 2, bias=False)


class PreActBlock(nn.Module):
    def __init__(self, inputs, outputs, stride, inner=None):
        super().__init__()
        inner = inner or outputs
        self.bn1 = nn.BatchNorm2d(inputs)
        self.conv1 = conv(inputs, inner, 3, stride)
        self.bn2 = nn.BatchNorm2d(inner)
        self.conv2 = conv(inner, outputs, 3)
        if stride != 1 or inputs != outputs:
            self.shortcut = nn.Sequential(conv(inputs, outputs, 1, stride))

    def forward(self, x):
        y = F.relu(self.bn1(x))
        shortcut = self.shortcut(y) if hasattr(self, "shortcut") else x
        return self.conv2(F.relu(self.bn2(self.conv1(y)))) + shortcut


class PreActResNet(nn.Module):
    """Stages layer1, layer2, ...; the last norm is `bn`. stem: conv1's outputs."""

    def __init__(self, channels, stem, widths, blocks, outputs, large, bias):
        super().__init__()
        self.large, self.stages = large, len(widths)
        self.conv1 = conv(channels, stem, 7, 2) if large else conv(channels, stem, 3)
        inputs = stem
        for s, (width, count) in enumerate(zip(widths, blocks)):
            modules = []
            for b in range(count):
                modules.append(PreActBlock(inputs, width, 2 if s > 0 and b == 0 else 1))
                inputs = width
            setattr(self, f"layer{s + 1}", nn.Sequential(*modules))
        self.bn = nn.BatchNorm2d(inputs)
        self.linear = nn.Linear(inputs, outputs, bias=bias)

    def forward(self, x):
        x = self.conv1(x)
        if self.large:
            x = F.max_pool2d(x, 3, 2, 1)
        for s in range(self.stages):
            x = getattr(self, f"layer{s + 1}")(x)
        return self.linear(F.relu(self.bn(x)).mean((2, 3)))


class BasicBlock(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv1 = conv(inputs, outputs, 3, stride)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.conv2 = conv(outputs, outputs, 3)
        self.bn2 = nn.BatchNorm2d(outputs)
        self.downsample = None
        if stride != 1 or inputs != outputs:
            self.downsample = nn.Sequential(conv(inputs, outputs, 1, stride), nn.BatchNorm2d(outputs))

    def forward(self, x):
        y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
        return F.relu(y + (self.downsample(x) if self.downsample else x))


class Bottleneck(nn.Module):
    """`wide` times the stage's width inside, four times outside."""

    def __init__(self, inputs, width, stride, wide):
        super().__init__()
        inner, outputs = wide * width, 4 * width
        self.conv1 = conv(inputs, inner, 1)
        self.bn1 = nn.BatchNorm2d(inner)
        self.conv2 = conv(inner, inner, 3, stride)
        self.bn2 = nn.BatchNorm2d(inner)
        self.conv3 = conv(inner, outputs, 1)
        self.bn3 = nn.BatchNorm2d(outputs)
        self.downsample = None
        if stride != 1 or inputs != outputs:
            self.downsample = nn.Sequential(conv(inputs, outputs, 1, stride), nn.BatchNorm2d(outputs))

    def forward(self, x):
        y = F.relu(self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x))))))
        return F.relu(self.bn3(self.conv3(y)) + (self.downsample(x) if self.downsample else x))


class ResNet(nn.Module):
    """Basic blocks, or with `wide` bottlenecks."""

    def __init__(self, channels, widths, blocks, outputs, large, bias, wide=0):
        super().__init__()
        self.large = large
        self.conv1 = conv(channels, widths[0], 7, 2) if large else conv(channels, widths[0], 3)
        self.bn1 = nn.BatchNorm2d(widths[0])
        inputs = widths[0]
        for s, (width, count) in enumerate(zip(widths, blocks)):
            modules = []
            for b in range(count):
                stride = 2 if s > 0 and b == 0 else 1
                modules.append(Bottleneck(inputs, width, stride, wide) if wide else BasicBlock(inputs, width, stride))
                inputs = 4 * width if wide else width
            setattr(self, f"layer{s + 1}", nn.Sequential(*modules))
        self.fc = nn.Linear(inputs, outputs, bias=bias)

    def forward(self, x):
        x = F.relu(self.bn1(self.conv1(x)))
        if self.large:
            x = F.max_pool2d(x, 3, 2, 1)
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(x.mean((2, 3)))


class VGG(nn.Module):
    def __init__(self, channels, width, outputs, bias):
        super().__init__()
        modules = []
        for units in [1, "M", 2, "M", 4, 4, "M", 8, 8, "M", 8, 8, "M"]:
            if units == "M":
                modules.append(nn.MaxPool2d(2))
                continue
            modules.append(nn.Conv2d(channels, width * units, 3, padding=1, bias=bias))
            modules.append(nn.BatchNorm2d(width * units))
            modules.append(nn.ReLU())
            channels = width * units
        self.features = nn.Sequential(*modules)
        self.classifier = nn.Linear(channels, outputs, bias=bias)

    def forward(self, x):
        for module in self.features:
            if not isinstance(module, nn.MaxPool2d) or min(x.shape[2:]) > 1:
                x = module(x)
        return self.classifier(x.mean((2, 3)))


class TorchvisionVGG(nn.Module):
    """Three linear layers at the end, and torchvision's adaptive pooling and dropout before and between."""

    LAYOUTS = {11: "1M2M44M88M88M", 13: "11M22M44M88M88M", 16: "11M22M444M888M888M", 19: "11M22M4444M8888M8888M"}

    def __init__(self, channels, width, depth, norms, outputs, bias):
        super().__init__()
        modules = []
        for units in self.LAYOUTS[depth]:
            if units == "M":
                modules.append(nn.MaxPool2d(2))
                continue
            modules.append(nn.Conv2d(channels, width * int(units), 3, padding=1, bias=bias))
            if norms:
                modules.append(nn.BatchNorm2d(width * int(units)))
            modules.append(nn.ReLU())
            channels = width * int(units)
        self.features = nn.Sequential(*modules)
        self.avgpool = nn.AdaptiveAvgPool2d(7)
        hidden = 64 * width
        self.classifier = nn.Sequential(nn.Linear(49 * channels, hidden, bias=bias), nn.ReLU(), nn.Dropout(),
                                        nn.Linear(hidden, hidden, bias=bias), nn.ReLU(), nn.Dropout(),
                                        nn.Linear(hidden, outputs, bias=bias))

    def forward(self, x):
        return self.classifier(self.avgpool(self.features(x)).flatten(1))


class Cnn1(nn.Module):
    def __init__(self, channels, height, width, filters, side, outputs):
        super().__init__()
        self.conv1 = conv(channels, filters, side)
        self.linear = nn.Linear(filters * height * width, outputs, bias=False)
        self.linear.weight.requires_grad = False

    def forward(self, x):
        return self.linear(F.relu(self.conv1(x)).flatten(1))


class Shallow(nn.Module):
    """a relu(w x) / sqrt(m), m the width before anything was pruned; a is a vector for one output."""

    def __init__(self, inputs, units, m, outputs):
        super().__init__()
        self.w = nn.Parameter(torch.empty(units, inputs))
        self.a = nn.Parameter(torch.empty(units) if outputs == 1 else torch.empty(outputs, units), False)
        self.scale = m ** -0.5

    def forward(self, x):
        return self.scale * F.relu(x.flatten(1) @ self.w.T) @ self.a.t()


def narrowed(model, axis, width):
    """The size of an axis in `model.widths`, "hidden=40", or what it was made with."""
    for part in (model.get("widths") or "").split(","):
        name, _, size = part.strip().partition("=")
        width = int(size) if name == axis else width
    return width


def build(model, shape, outputs):
    """The network of a run file's `model:` section for images of shape (channels, height, width)."""
    channels, height, width = shape
    name, base, bias = model["name"], model.get("width", 64), model.get("bias", True)
    stem = model.get("stem", "auto")
    large = stem == "imagenet" or (stem == "auto" and min(height, width) > 64)
    widths = [base, 2 * base, 4 * base, 8 * base]
    blocks = {"18": [2, 2, 2, 2], "34": [3, 4, 6, 3]}.get(name[-2:])
    deep = {"resnet50": [3, 4, 6, 3], "resnet101": [3, 4, 23, 3], "resnet152": [3, 8, 36, 3],
            "wide_resnet50_2": [3, 4, 6, 3], "wide_resnet101_2": [3, 4, 23, 3]}
    if name in deep:
        return ResNet(channels, widths, deep[name], outputs, large, bias, 2 if name.startswith("wide") else 1)
    if name.startswith("vgg") and "_" in name:
        return TorchvisionVGG(channels, base, int(name[3:5]), name.endswith("_bn"), outputs, bias)
    if name.startswith("preresnet"):
        return PreActResNet(channels, base, widths, blocks, outputs, large, bias)
    if name.startswith("resnet"):
        return ResNet(channels, widths, blocks, outputs, large, bias)
    if name == "wideresnet":
        n, k = (model.get("depth", 16) - 4) // 6, model.get("factor", 4)
        return PreActResNet(channels, 16, [16 * k, 32 * k, 64 * k], [n] * 3, outputs, False, bias)
    if name == "vgg11":
        return VGG(channels, base, outputs, bias)
    if name == "cnn1":
        return Cnn1(channels, height, width, narrowed(model, "filters", base), model.get("filter", 3), outputs)
    if name == "shallow":
        return Shallow(channels * height * width, narrowed(model, "hidden", base), base, outputs)
    raise ValueError(name)
