"""PyTorch checkpoints for `tessera import`, and the judge of what became of them.

    import_torch.py make FOLDER          FOLDER/<case>/{weights.*, x.npy, outputs.npy, options}: plain modules with
                                         torchvision's names and random weights and statistics, saved in
                                         every way that people save them, and their outputs of x
    import_torch.py check FOLDER...      in each: model.safetensors has the weights to the bit, and
                                         out.npy is outputs.npy
"""
import os
import sys
from collections import OrderedDict

import numpy
import torch

sys.path.insert(0, __file__.rsplit("/", 1)[0])
import plain_nets
import safetensors_numpy

def net_of(name, width, outputs, large=True, channels=3):
    model = {"name": name, "width": width, "stem": "imagenet" if large else "cifar"}
    return plain_nets.build(model, (channels, 224, 224), outputs)


def timm(state):
    """timm's names of a VGG: its classifier is convolutions."""
    names = {"classifier.0.": "pre_logits.fc1.", "classifier.3.": "pre_logits.fc2.", "classifier.6.": "head.fc."}
    found = OrderedDict()
    for key, value in state.items():
        for ours, theirs in names.items():
            key = key.replace(ours, theirs)
        if key == "pre_logits.fc1.weight":
            value = value.reshape(len(value), -1, 7, 7)
        elif key == "pre_logits.fc2.weight":
            value = value[:, :, None, None]
        found[key] = value
    return found


def shake(net):
    """Norms, biases and statistics away from 0 and 1, where a swap would not show."""
    for name, value in net.state_dict().items():
        if name.endswith("num_batches_tracked"):
            value.fill_(1234567)
        elif value.dim() == 1:
            value.add_(0.2 * torch.rand_like(value))
    return net.eval()


def put(folder, net, size, channels=3):
    os.makedirs(folder)
    x = torch.randn(3, channels, size, size)
    numpy.save(folder + "/x.npy", x.numpy())
    numpy.save(folder + "/outputs.npy", net(x).detach().numpy())
    open(folder + "/options", "w").write(f"--size {size} --normalize none")
    safetensors_numpy.save(folder + "/truth", {k: v.float().numpy() for k, v in net.state_dict().items()})


def numbers(state):
    return {k: v.numpy() for k, v in state.items()}


def make(folder):
    torch.manual_seed(5)
    for name in ("resnet18", "resnet34", "resnet50"):  # as torchvision has them, 1000 classes
        net = shake(net_of(name, 64, 1000))
        put(f"{folder}/{name}-whole", net, 64)
        torch.save(net.state_dict(), f"{folder}/{name}-whole/weights.pth")
    for name in ("resnet101", "resnet152", "wide_resnet50_2", "wide_resnet101_2"):
        net = shake(net_of(name, 4, 10))
        put(f"{folder}/{name}", net, 40)
        torch.save({"state_dict": net.state_dict()}, f"{folder}/{name}/weights.pth")
    for name in ("vgg11_bn", "vgg13_bn", "vgg16_bn", "vgg19_bn"):
        net = shake(net_of(name, 2, 10))
        put(f"{folder}/{name}", net, 224)
        torch.save(net.state_dict(), f"{folder}/{name}/weights.pth")
    for name in ("vgg11_plain", "vgg13_plain", "vgg16_plain", "vgg19_plain"):
        net = shake(net_of(name, 2, 10))
        put(f"{folder}/{name}", net, 224)
        torch.save(net.state_dict(), f"{folder}/{name}/weights.pth")
    for name in ("vgg16_bn", "vgg16_plain"):
        net = shake(net_of(name, 2, 10))
        put(f"{folder}/{name}-timm", net, 224)
        torch.save(timm(net.state_dict()), f"{folder}/{name}-timm/weights.pth")
    for name in ("resnet18", "resnet34", "resnet50"):
        net = shake(net_of(name, 8, 10))
        state = net.state_dict()
        prefixed = OrderedDict((f"module.{k}", v) for k, v in state.items())
        twice = OrderedDict((f"module._orig_mod.{k}", v) for k, v in state.items())
        ways = {
            "plain.pt": state,
            "dict.pth": dict(state),
            "module.pth": prefixed,
            "twice.pt": twice,
            "state_dict.pth": {"epoch": 90, "arch": name, "best": 0.7, "state_dict": prefixed,
                               "optimizer": {"state": {0: {"momentum_buffer": torch.ones(3)}}, "lr": [0.1, True, None]}},
            "model.pth": {"model": state, "args": None},
            "parameters.pth": dict(net.named_parameters(), **dict(net.named_buffers())),
            "plain.safetensors": state,
            "module.safetensors": prefixed,
        }
        for way, what in ways.items():
            case = f"{folder}/{name}-{way.replace('.', '-')}"
            put(case, net, 40)
            if way.endswith(".safetensors"):
                safetensors_numpy.save(f"{case}/weights.safetensors", numbers(what))
            else:
                torch.save(what, f"{case}/weights.{way.rsplit('.', 1)[1]}")
    # Protocols 3 to 5 have other opcodes: frames, MEMOIZE, STACK_GLOBAL.
    for protocol in (3, 4, 5):
        net = shake(net_of("resnet18", 4, 7))
        put(f"{folder}/protocol-{protocol}", net, 33)
        torch.save(net.state_dict(), f"{folder}/protocol-{protocol}/weights.pth", pickle_protocol=protocol)
    # Channels last, and all tensors in one storage.
    net = shake(net_of("resnet18", 4, 7))
    put(f"{folder}/channels-last", net, 32)
    torch.save(net.to(memory_format=torch.channels_last).state_dict(), f"{folder}/channels-last/weights.pth")
    net = shake(net_of("resnet18", 4, 7))
    put(f"{folder}/one-storage", net, 32)
    state, at = net.state_dict(), 0
    flat = torch.cat([v.reshape(-1) for v in state.values() if v.is_floating_point()])
    for key, value in state.items():
        if value.is_floating_point():
            state[key] = flat[at : at + value.numel()].reshape(value.shape)
            at += value.numel()
    torch.save(state, f"{folder}/one-storage/weights.pth")
    # Bytes, scaled as torchvision scales them.
    net = shake(net_of("resnet18", 4, 7))
    put(f"{folder}/imagenet", net, 32)
    x = torch.randint(0, 256, (3, 3, 32, 32), dtype=torch.uint8)
    mean, std = torch.tensor([0.485, 0.456, 0.406]), torch.tensor([0.229, 0.224, 0.225])
    y = net((x / 255 - mean[:, None, None]) / std[:, None, None])
    numpy.save(f"{folder}/imagenet/x.npy", x.numpy())
    numpy.save(f"{folder}/imagenet/outputs.npy", y.detach().numpy())
    open(f"{folder}/imagenet/options", "w").write("--size 32")
    torch.save(net.state_dict(), f"{folder}/imagenet/weights.pth")
    # Small images and one channel; numbers of other types; no counts (PyTorch before 0.4.1).
    net = shake(net_of("resnet18", 4, 10, large=False, channels=1))
    put(f"{folder}/small-stem", net, 28, channels=1)
    torch.save(net.state_dict(), f"{folder}/small-stem/weights.pth")
    for kind in (torch.float16, torch.bfloat16, torch.float64):
        net = shake(net_of("resnet18", 4, 10)).to(torch.float16 if kind == torch.float16 else torch.bfloat16)
        state = {k: v.to(kind) if v.is_floating_point() else v for k, v in net.state_dict().items()}
        net = net.float().eval()
        case = f"{folder}/{str(kind)[6:]}"
        put(case, net, 32)
        torch.save(state, f"{case}/weights.pth")
    net = shake(net_of("resnet18", 4, 10))
    put(f"{folder}/uncounted", net, 32)
    torch.save({k: v for k, v in net.state_dict().items() if "tracked" not in k}, f"{folder}/uncounted/weights.pth")


def check(case):
    ours, _ = safetensors_numpy.load(case + "/model.safetensors")
    truth, _ = safetensors_numpy.load(case + "/truth")
    assert set(ours) == set(truth), "other tensors"
    for name, value in truth.items():
        counted = "uncounted" not in case or not name.endswith("tracked")
        assert not counted or ours[name].astype("f4").tobytes() == value.tobytes(), f"{name} is not the same"
    y, have = numpy.load(case + "/outputs.npy"), numpy.load(case + "/out.npy")
    # f32 in another order through up to 152 layers: 1e-5, as the golden test has for parameters.
    far = abs(y - have).max() / abs(y).max()
    assert far <= 1e-5, f"{case}: outputs differ by {far:.1e}"
    print(f"{os.path.basename(case)}: outputs differ by {far:.1e}")


if sys.argv[1] == "make":
    make(sys.argv[2])
else:
    for each in sys.argv[2:]:
        check(each)
