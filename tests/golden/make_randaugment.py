"""Makes randaugment.safetensors: the operations of RandAugment as torchvision does them on PIL images.

    /usr/bin/python3 tests/golden/make_randaugment.py

needs python3-torchvision. The file holds small 8-bit images, image.<i> [channels, height, width]; for each of them
amount.<i> [operations, 31], what a magnitude means; and out.<i>.<operation>.<magnitude>, negative for the other way,
where an operation has a strength. tests/unit/test_image_ops.c compares to the bit. Made with torchvision 0.14.1 and
Pillow 9.4 (Debian 12) on a CPU.
"""
import os
import sys

import numpy
import torch
from PIL import Image
from torchvision.transforms import InterpolationMode
from torchvision.transforms.autoaugment import RandAugment, _apply_op

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(here, "..", "python"))
import safetensors_numpy

MAGNITUDES = (0, 9, 22, 30)


def images():
    """Colours with edges and shades, a dim one, a narrow grey one, one byte everywhere, and two bytes."""
    rng = numpy.random.default_rng(1)
    y, x = numpy.mgrid[0:19, 0:23]
    waves = [127 + 90 * numpy.sin(0.4 * x * (c + 1) + 0.3 * y) + rng.normal(0, 25, x.shape) for c in range(3)]
    yield numpy.clip(waves, 0, 255).astype(numpy.uint8)
    yield (numpy.clip(waves, 0, 255) * 0.2 + 31).astype(numpy.uint8)
    yield rng.integers(0, 256, (1, 20, 16), dtype=numpy.uint8)
    yield numpy.full((3, 5, 4), 77, numpy.uint8)
    yield numpy.where(rng.random((1, 30, 12)) < 0.3, 200, 40).astype(numpy.uint8)


def changed(image, name, amount):
    pil = Image.fromarray(image[0] if len(image) == 1 else image.transpose(1, 2, 0))
    out = numpy.asarray(_apply_op(pil, name, amount, InterpolationMode.NEAREST, None))
    return out[None] if len(image) == 1 else out.transpose(2, 0, 1)


tensors = {}
for i, image in enumerate(images()):
    space = RandAugment()._augmentation_space(31, image.shape[1:])
    tensors[f"image.{i}"] = image
    tensors[f"amount.{i}"] = numpy.stack([m.double().expand(31).numpy() for m, _ in space.values()])
    for k, (name, (amounts, signed)) in enumerate(space.items()):
        for m in MAGNITUDES if amounts.ndim else (0,):
            for sign in (1, -1) if signed and m else (1,):
                amount = float(amounts[m].item()) if amounts.ndim else 0.0
                tensors[f"out.{i}.{k}.{sign * m}"] = numpy.ascontiguousarray(changed(image, name, sign * amount))
safetensors_numpy.save(os.path.join(here, "randaugment.safetensors"), tensors, {"torch": torch.__version__})
