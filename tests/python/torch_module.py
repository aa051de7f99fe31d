"""The PyTorch modules that Tessera writes: torch_module.py MODULE X OUT [WEIGHTS]

MODULE, a file, is imported with nothing of ours in reach; its load() must give OUT of X, both npy,
to 1e-5. X are raw inputs; real targets come back by original(). WEIGHTS: another file than its own.
"""
import importlib.util
import sys

import numpy
import torch

path, x, out = sys.argv[1:4]
sys.path.pop(0)  # the folder of this script
spec = importlib.util.spec_from_file_location("model", path)
model = importlib.util.module_from_spec(spec)
spec.loader.exec_module(model)
net = model.load(*sys.argv[4:])
x = torch.from_numpy(numpy.load(x))
y = net(model.prepare(x)).detach()
y = (model.original(y) if hasattr(model, "original") else y).numpy()
have = numpy.load(out).reshape(y.shape)
# f32 in another order through up to 50 layers, as in import_torch.py.
far = abs(y - have).max() / abs(y).max()
assert y.shape == have.shape and far <= 1e-5, f"{path}: outputs differ by {far:.1e}"
print(f"{path}: {sum(p.numel() for p in net.parameters())} parameters, outputs differ by {far:.1e}")
