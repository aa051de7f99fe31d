"""torchvision-import.py PROGRAM FOLDER: torchvision's own networks through `tessera import`.

Random weights and statistics, saved in five ways: imported, compared with torchvision's outputs, pruned to
half on all axes, and the module that is written with the ticket compared with our outputs of it. A line each.
For a machine that has torchvision; tests/cli/import.sh does the same with modules of its own.
"""
import importlib.util, os, subprocess, sys, time

import numpy, torch, torchvision
from safetensors.torch import save_file

program, folder = os.path.abspath(sys.argv[1]), sys.argv[2]
os.makedirs(folder, exist_ok=True)
os.chdir(folder)
torch.manual_seed(5)
NAMES = ("resnet18", "resnet34", "resnet50", "resnet101", "resnet152", "wide_resnet50_2", "wide_resnet101_2", "vgg11", "vgg13",
         "vgg16", "vgg19", "vgg11_bn", "vgg13_bn", "vgg16_bn", "vgg19_bn")
failed = 0


def tessera(*words):
    done = subprocess.run([program, *words, "--quiet"], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"tessera {' '.join(words)}: {done.stderr.strip()[-300:]}")


def far(a, b):
    return float(abs(a - b).max() / abs(b).max())


def predict(model):
    tessera("predict", model, "--data", "x.npy", "--out", "told.npy")
    return numpy.load("told.npy")


def saved(net):
    state = net.state_dict()
    prefixed = {f"module.{k}": v for k, v in state.items()}
    torch.save(state, "plain.pth"), torch.save(state, "plain.pt"), torch.save(prefixed, "module.pth")
    torch.save({"epoch": 1, "state_dict": prefixed}, "inside.pth"), save_file({k: v.contiguous() for k, v in state.items()}, "plain.safetensors")
    return "plain.pth", "plain.pt", "module.pth", "inside.pth", "plain.safetensors"


for name in NAMES:
    since = time.time()
    try:
        net = getattr(torchvision.models, name)(weights=None)
        for key, value in net.state_dict().items():
            if value.dim() == 1:  # away from 0 and 1, where a swap would not show
                value.add_(0.2 * torch.rand_like(value))
        net.eval()
        size = 224 if name.startswith("vgg") else 64
        x = torch.randn(2, 3, size, size)
        numpy.save("x.npy", x.numpy())
        with torch.no_grad():
            truth = net(x).numpy()
        worst = 0.0
        for file in saved(net):
            tessera("import", file, "--out", "model.safetensors", "--size", str(size), "--normalize", "none", "--force")
            worst = max(worst, far(predict("model.safetensors"), truth))
        tessera("prune", "model.safetensors", "--ratio", "0.5", "--axes", "all", "--seconds", "0", "--out", "half.safetensors", "--force")
        ours = predict("half.safetensors")
        spec = importlib.util.spec_from_file_location("half", "half.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        ticket = module.load()
        with torch.no_grad():
            cut = far(ticket(x).numpy(), ours)
        whole, less = (sum(p.numel() for p in n.parameters()) for n in (net, ticket))
        bad = worst > 1e-5 or cut > 1e-5  # f32 in another order through up to 152 layers
        failed += bad
        print(f"{name}: five files, outputs differ by {worst:.1e}; half of it {less / whole:.3f} of {whole} parameters, "
              f"its module differs by {cut:.1e} ({time.time() - since:.0f} s){' FAILED' if bad else ''}", flush=True)
    except Exception as e:
        failed += 1
        print(f"{name}: FAILED: {e}", flush=True)
print(f"torchvision {torchvision.__version__}, torch {torch.__version__}: {len(NAMES)} networks, {failed} failed")
sys.exit(failed > 0)
