"""What `tessera bench` with backend: cuda is measured beside (bench/device/cuda-tests.sh): steps of training in PyTorch at
its best. bf16 autocast, channels last, fused SGD, the whole step in one CUDA graph, eager and compiled.

    cuda-torch.py CASE       dense:128 share:128 shares:128 f32:128 rnn mlp:512

`dense` is PreActResNet-18, `share` the LoFT-4 share of it (a quarter of the channels inside the blocks that LoFT cuts: none
of the first stage, none that is strided), `shares` four of them on four streams of one graph; `rnn` an Elman network of
ReLUs (m = 1024, L = 32, B = 64), `mlp` 8 layers of width 4096. One case to a process: with several graphs alive PyTorch 2.11
ended in an illegal memory access.
"""
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F


class Block(nn.Module):
    def __init__(self, cin, cout, stride, inner):
        super().__init__()
        self.n1, self.n2 = nn.BatchNorm2d(cin), nn.BatchNorm2d(inner)
        self.c1 = nn.Conv2d(cin, inner, 3, stride, 1, bias=False)
        self.c2 = nn.Conv2d(inner, cout, 3, 1, 1, bias=False)
        self.short = nn.Conv2d(cin, cout, 1, stride, bias=False) if stride != 1 or cin != cout else None

    def forward(self, x):
        y = F.relu(self.n1(x))
        return self.c2(F.relu(self.n2(self.c1(y)))) + (self.short(y) if self.short else x)


class Net(nn.Module):
    def __init__(self, parts=1):
        super().__init__()
        self.stem = nn.Conv2d(3, 64, 3, 1, 1, bias=False)
        wide, blocks = 64, []
        for c, stride in ((64, 1), (64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), (512, 1)):
            blocks.append(Block(wide, c, stride, c if stride > 1 or c == 64 else c // parts))
            wide = c
        self.blocks, self.n, self.fc = nn.Sequential(*blocks), nn.BatchNorm2d(512), nn.Linear(512, 10)

    def forward(self, x):
        return self.fc(F.relu(self.n(self.blocks(self.stem(x)))).mean((2, 3)))


class Elman(nn.Module):
    def __init__(self, m=1024, inputs=64):
        super().__init__()
        self.rnn = nn.RNN(inputs, m, nonlinearity="relu", bias=False, batch_first=True)
        self.out = nn.Linear(m, 10, bias=False)

    def forward(self, x):
        return self.out(self.rnn(x)[0][:, -1])


def mlp(width=4096, layers=8):
    wide = [3072] + [width] * (layers - 1)
    body = [m for a, b in zip(wide, wide[1:]) for m in (nn.Linear(a, b), nn.ReLU())]
    return nn.Sequential(*body, nn.Linear(width, 10))


class Trained:
    """A network with its data and rule; step() trains once, record() makes a graph of it."""

    def __init__(self, net, x, bf16, compiled):
        last = x.dim() == 4
        self.net = net.cuda().to(memory_format=torch.channels_last) if last else net.cuda()
        self.x = x.cuda().to(memory_format=torch.channels_last) if last else x.cuda()
        self.y = torch.randint(10, (len(x),), device="cuda")
        self.rule = torch.optim.SGD(self.net.parameters(), 0.05, momentum=0.9, weight_decay=5e-4, fused=True)
        self.bf16 = bf16
        self.run = torch.compile(self.net) if compiled else self.net

    def step(self):
        self.rule.zero_grad(set_to_none=False)
        with torch.autocast("cuda", torch.bfloat16, enabled=self.bf16):
            loss = F.cross_entropy(self.run(self.x), self.y)
        loss.backward()
        self.rule.step()


def record(steps):
    """A graph of all of them, each on a stream of its own."""
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for _ in range(5):
            for s in steps:
                s.step()
    torch.cuda.synchronize()
    graph, streams = torch.cuda.CUDAGraph(), [torch.cuda.Stream() for _ in steps]
    with torch.cuda.graph(graph):
        here = torch.cuda.current_stream()
        if len(steps) == 1:
            steps[0].step()
        else:
            for s, stream in zip(steps, streams):
                stream.wait_stream(here)
                with torch.cuda.stream(stream):
                    s.step()
            for stream in streams:
                here.wait_stream(stream)
    return graph


def milliseconds(graph):
    times = []
    for _ in range(10):
        a, b = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        a.record()
        for _ in range(10):
            graph.replay()
        b.record()
        torch.cuda.synchronize()
        times.append(a.elapsed_time(b) / 10)
    return min(times)


def make(case):
    """(text, samples of a step, graph) of each way that the case is done."""
    kind, _, size = case.partition(":")
    batch = int(size or 64)
    images = torch.randn(batch, 3, 32, 32)
    if kind == "shares":
        yield f"{case} eager, four streams", 4 * batch, record([Trained(Net(4), images, True, False) for _ in range(4)])
        return
    for compiled in (False, True):
        net, x = {"rnn": lambda: (Elman(), torch.randn(batch, 32, 64)), "mlp": lambda: (mlp(), torch.randn(batch, 3072)),
                  "share": lambda: (Net(4), images)}.get(kind, lambda: (Net(), images))()
        if kind == "rnn" and compiled:
            return  # cuDNN's kernel: there is nothing to compile
        yield (f"{case} {'compiled' if compiled else 'eager'}", batch,
               record([Trained(net, x, kind != "f32", compiled)]))


def main(case):
    torch.backends.cudnn.benchmark = True
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    for text, samples, graph in make(case):
        ms = milliseconds(graph)
        print(f"torch {torch.__version__} {text}: {ms:.3f} ms a step, {samples / ms * 1e3:.0f} samples/s", flush=True)


main(sys.argv[1])
