"""PreActResNet-18 in PyTorch, f32 without TF32, channels last, fused SGD, the whole step in a CUDA graph: what
`tessera bench` with backend: cuda is measured beside (bench/device/cuda-tests.sh)."""
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F


class Block(nn.Module):
    def __init__(self, cin, cout, stride):
        super().__init__()
        self.n1, self.n2 = nn.BatchNorm2d(cin), nn.BatchNorm2d(cout)
        self.c1 = nn.Conv2d(cin, cout, 3, stride, 1, bias=False)
        self.c2 = nn.Conv2d(cout, cout, 3, 1, 1, bias=False)
        self.short = nn.Conv2d(cin, cout, 1, stride, bias=False) if stride != 1 or cin != cout else None

    def forward(self, x):
        y = F.relu(self.n1(x))
        return self.c2(F.relu(self.n2(self.c1(y)))) + (self.short(y) if self.short else x)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 64, 3, 1, 1, bias=False)
        wide, blocks = 64, []
        for c, stride in ((64, 1), (64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), (512, 1)):
            blocks.append(Block(wide, c, stride))
            wide = c
        self.blocks, self.n, self.fc = nn.Sequential(*blocks), nn.BatchNorm2d(512), nn.Linear(512, 10)

    def forward(self, x):
        return self.fc(F.relu(self.n(self.blocks(self.stem(x)))).mean((2, 3)))


def step_ms(batch):
    net = Net().cuda().to(memory_format=torch.channels_last)
    rule = torch.optim.SGD(net.parameters(), 0.05, momentum=0.9, weight_decay=5e-4, fused=True)
    x = torch.randn(batch, 3, 32, 32, device="cuda").to(memory_format=torch.channels_last)
    y = torch.randint(10, (batch,), device="cuda")

    def step():
        rule.zero_grad(set_to_none=False)
        F.cross_entropy(net(x), y).backward()
        rule.step()

    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for _ in range(5):
            step()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    times = []
    for _ in range(20):
        a, b = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        a.record()
        graph.replay()
        b.record()
        torch.cuda.synchronize()
        times.append(a.elapsed_time(b))
    return sorted(times)[10]


torch.backends.cudnn.benchmark = True
torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
for size in map(int, sys.argv[1:] or ["128"]):
    ms = step_ms(size)
    print(f"torch {torch.__version__} f32 batch {size}: {ms:.2f} ms a step, {size / ms * 1e3:.0f} images/s")
