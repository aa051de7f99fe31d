"""torch_predict.py THREADS CALLS: one sample through 784-1024-1024-10, as bench/predict.c asks it; least and median
milliseconds."""
import sys
import time

import torch
from torch import nn

threads, calls = int(sys.argv[1]), int(sys.argv[2])
torch.set_num_threads(threads)
net = nn.Sequential(nn.Linear(784, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 10)).eval()
x, times = torch.randn(1, 784), []
with torch.inference_mode():
    for i in range(-20, calls):
        begin = time.perf_counter()
        net(x)
        if i >= 0:
            times.append((time.perf_counter() - begin) * 1e3)
times.sort()
print(f"{times[0]:.5f} {times[calls // 2]:.5f}")
