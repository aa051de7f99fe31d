"""RandAugment's operations by PIL, numbered as in torchvision's list, on arrays [channels, height, width] of bytes."""
import math

import numpy
from PIL import Image, ImageEnhance, ImageOps


def affine(*a):
    return lambda image, _: image.transform(image.size, Image.AFFINE, a, Image.NEAREST)


def enhance(kind):
    return lambda image, v: kind(image).enhance(1.0 + v)


# what a magnitude of 30 means (one of 0 means nothing), and what is done with a part of it
OPERATIONS = (
    (None, lambda image, _: image),
    (0.3, lambda image, v: affine(1, v, 0, 0, 1, 0)(image, v)),
    (0.3, lambda image, v: affine(1, 0, 0, v, 1, 0)(image, v)),
    ("width", lambda image, v: affine(1, 0, -math.trunc(v), 0, 1, 0)(image, v)),
    ("height", lambda image, v: affine(1, 0, 0, 0, 1, -math.trunc(v))(image, v)),
    (30.0, lambda image, v: image.rotate(v, Image.NEAREST)),
    (0.9, enhance(ImageEnhance.Brightness)),
    (0.9, enhance(ImageEnhance.Color)),
    (0.9, enhance(ImageEnhance.Contrast)),
    (0.9, enhance(ImageEnhance.Sharpness)),
    (-4.0, lambda image, v: ImageOps.posterize(image, 8 + round(v))),
    (-255.0, lambda image, v: ImageOps.solarize(image, 255 + v)),
    (None, lambda image, _: ImageOps.autocontrast(image)),
    (None, lambda image, _: ImageOps.equalize(image)),
)


def change(image, op, back, magnitude):
    """Operation number `op`, with `back` the other way."""
    assert not back or 1 <= op <= 9, "only those go either way"
    most, operation = OPERATIONS[op]
    channels, height, width = image.shape
    if isinstance(most, str):
        most = 150 / 331 * {"width": width, "height": height}[most]
    part = (most or 0.0) * magnitude / 30
    pil = Image.fromarray(image[0] if channels == 1 else image.transpose(1, 2, 0))
    out = numpy.asarray(operation(pil, -part if back else part))
    return out[None] if channels == 1 else out.transpose(2, 0, 1)
