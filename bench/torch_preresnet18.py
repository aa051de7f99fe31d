"""One training step of PreActResNet-18 on 3x32x32, batch 64, in PyTorch: the peer of preresnet18.sh.

    torch_preresnet18.py THREADS REPEATS channels_last|contiguous SHARES [bf16]

With SHARES > 1 the inner width of the stride-1 blocks of stages 2 to 4 is divided by it, as in the
share of one LoFT worker. bf16: under torch.autocast.
Prints min and median of the step in milliseconds, the peak memory of the process in MB, and the numbers of the net.
"""
import os
import sys

import torch

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "python"))
import plain_nets
import timing

threads, repeats, layout, shares = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], int(sys.argv[4])
torch.set_num_threads(threads)
torch.manual_seed(0)
net, x = plain_nets.PreActResNet(3, 64, [64, 128, 256, 512], [2, 2, 2, 2], 10, False, True), torch.randn(64, 3, 32, 32)
for stage, width in [("layer2", 128), ("layer3", 256), ("layer4", 512)]:
    getattr(net, stage)[1] = plain_nets.PreActBlock(width, width, 1, width // shares)
if layout == "channels_last":
    net, x = net.to(memory_format=torch.channels_last), x.to(memory_format=torch.channels_last)
y = torch.randint(0, 10, (64,))
optimiser = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9, weight_decay=5e-4)
loss = torch.nn.CrossEntropyLoss()


def step():
    optimiser.zero_grad(set_to_none=True)
    with torch.autocast("cpu", torch.bfloat16, enabled="bf16" in sys.argv):
        outputs = net(x)
    loss(outputs.float(), y).backward()
    optimiser.step()


size = sum(t.numel() for t in net.state_dict().values())
print(*timing.least_and_median(step, repeats, warm=1), timing.peak_megabytes(), size)
