"""Makes tests/golden/import-resnet18.pth: a resnet18 of width 1 with three outputs, as torch.save writes it
inside {"state_dict": ...} with module. before each name. Run from the root, with PyTorch 1.13:

    python3 tests/golden/make_import.py
"""
import sys
from collections import OrderedDict

import torch

sys.path.insert(0, "tests/python")
import plain_nets

torch.manual_seed(7)
net = plain_nets.build({"name": "resnet18", "width": 1, "stem": "imagenet"}, (3, 32, 32), 3)
state = OrderedDict(("module." + k, v) for k, v in net.state_dict().items())
torch.save({"epoch": 3, "state_dict": state}, "tests/golden/import-resnet18.pth")
