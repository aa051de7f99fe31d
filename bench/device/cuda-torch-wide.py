"""What the parts `rnn`, `ntk` and `gates` of cuda-tests.sh are measured beside: PyTorch at its best on the same GPU.

    cuda-torch-wide.py rnn [KIND ...]      a step of training of bench/rnn.yaml's network (m = 1024, L = 32, B = 64), the
                                           whole step in a CUDA graph: cudnn (nn.RNN), loop (a product and a ReLU at each
                                           position), compiled (that loop by torch.compile); each in f32 and bf16
    cuda-torch-wide.py ntk WIDTH N         the exact tangent kernel of a 4-layer MLP with one output: torch.func, by
                                           contraction of Jacobians and by products of Jacobians with vectors
    cuda-torch-wide.py twin WIDTH          a step of bench/grelu.yaml's ReLU twin: 4 layers, batch 512, f32 and bf16

One line for each. What fails says so and leaves the others.
"""
import sys
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
torch.manual_seed(0)


def captured(step):
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for _ in range(4):
            step()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    return graph


def milliseconds(run, repeats=10, inner=20):
    times = []
    for _ in range(repeats):
        a, b = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        a.record()
        for _ in range(inner):
            run()
        b.record()
        torch.cuda.synchronize()
        times.append(a.elapsed_time(b) / inner)
    times.sort()
    return times[0], times[len(times) // 2]


def tell(name, run, **more):
    least, middle = milliseconds(run, **more)
    print(f"torch {torch.__version__} {name}: {least:.3f} ms, median {middle:.3f}", flush=True)


class Elman(nn.Module):
    """Positions outermost, the faster layout."""

    def __init__(self, m=1024, inputs=64, outputs=16, loop=False):
        super().__init__()
        self.rnn = nn.RNN(inputs, m, nonlinearity="relu", bias=False)
        self.out = nn.Linear(m, outputs, bias=False)
        self.loop = loop
        for w in (self.rnn.weight_hh_l0, self.rnn.weight_ih_l0):
            nn.init.normal_(w, 0, (2 / m) ** 0.5)

    def forward(self, x):
        if not self.loop:
            return self.out(self.rnn(x)[0])
        before, w = F.linear(x, self.rnn.weight_ih_l0), self.rnn.weight_hh_l0
        h = [F.relu(before[0])]
        for at in before[1:]:
            h.append(F.relu(F.linear(h[-1], w) + at))
        return self.out(torch.stack(h))


def rnn(kinds):
    for kind in kinds:
        for bf16 in (True, False):
            try:
                net = Elman(loop=kind != "cudnn").cuda()
                x, y = torch.randn(32, 64, 64, device="cuda") / 8, torch.randn(32, 64, 16, device="cuda")
                rule = torch.optim.SGD(net.parameters(), 1e-5, momentum=0.9, weight_decay=5e-4, fused=True)
                run = torch.compile(net) if kind == "compiled" else net

                def step():
                    rule.zero_grad(set_to_none=False)
                    with torch.autocast("cuda", torch.bfloat16, enabled=bf16):
                        out = run(x)
                    (0.5 * ((out.float() - y) ** 2).sum()).backward()
                    rule.step()

                tell(f"rnn {kind} {'bf16' if bf16 else 'f32'}", captured(step).replay)
            except Exception as e:  # noqa: BLE001: the others count
                print(f"torch rnn {kind} {'bf16' if bf16 else 'f32'}: {type(e).__name__}: {str(e)[:200]}", flush=True)


def ntk(width, n):
    from torch.func import functional_call, jacrev, vjp, jvp, vmap
    net = nn.Sequential(nn.Linear(784, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width),
                        nn.ReLU(), nn.Linear(width, 1)).cuda()
    params = {k: v.detach() for k, v in net.named_parameters()}
    x = torch.randn(n, 784, device="cuda")

    def f(p, at):
        return functional_call(net, p, (at.unsqueeze(0),)).squeeze(0)

    def contraction():
        """Of PyTorch's tutorial: the Jacobian of all samples, then products of each parameter's."""
        j = vmap(jacrev(f), (None, 0))(params, x)
        return sum(v.flatten(1) @ v.flatten(1).T for v in j.values())

    def chunks(of=250):
        """The same, Jacobians of some samples at a time, so that they fit."""
        rows = [{k: v.flatten(1) for k, v in vmap(jacrev(f), (None, 0))(params, part).items()} for part in x.split(of)]
        return torch.cat([torch.cat([sum(a[k] @ b[k].T for k in a) for b in rows], 1) for a in rows])

    def products():
        """Of the tutorial, too: products of Jacobians with vectors, for each pair."""
        def pair(a, b):
            _, back = vjp(lambda p: f(p, a), params)
            return jvp(lambda p: f(p, b), (params,), back(torch.ones(1, device="cuda")))[1]
        return vmap(vmap(pair, (None, 0)), (0, None))(x[:100], x[:100])

    for name, way, share in (("contraction", contraction, 1), ("contraction in chunks", chunks, 1),
                             ("products, 100 x 100 scaled to all pairs", products, (n / 100) ** 2)):
        try:
            way()
            torch.cuda.synchronize()
            times = []
            for _ in range(3):
                begun = time.perf_counter()
                way()
                torch.cuda.synchronize()
                times.append(time.perf_counter() - begun)
            print(f"torch ntk width {width} n {n}, {name}: {min(times) * share * 1e3:.1f} ms", flush=True)
        except Exception as e:  # noqa: BLE001
            print(f"torch ntk width {width} n {n}, {name}: {type(e).__name__}: {str(e)[:120]}", flush=True)
        torch.cuda.empty_cache()


def twin(width):
    for bf16 in (True, False):
        for compiled in (False, True):
            net = nn.Sequential(nn.Linear(200, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(),
                                nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(),
                                nn.Linear(width, 1)).cuda()
            x, y = torch.randn(512, 200, device="cuda"), torch.randn(512, 1, device="cuda")
            rule = torch.optim.SGD(net.parameters(), 1e-9, fused=True)
            run = torch.compile(net) if compiled else net

            def step():
                rule.zero_grad(set_to_none=False)
                with torch.autocast("cuda", torch.bfloat16, enabled=bf16):
                    out = run(x)
                (0.5 * ((out.float() - y) ** 2).sum()).backward()
                rule.step()

            tell(f"relu twin {width} {'bf16' if bf16 else 'f32'} {'compiled' if compiled else 'eager'}",
                 captured(step).replay)


what, rest = sys.argv[1], sys.argv[2:]
if what == "rnn":
    rnn(rest or ["cudnn", "loop", "compiled"])
elif what == "ntk":
    ntk(int(rest[0]), int(rest[1]))
else:
    twin(int(rest[0]))
