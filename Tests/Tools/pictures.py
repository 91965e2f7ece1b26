"""Compares the decoding of pictures with Pillow's: real files, kinds of PNG and JPEG that Pillow writes, and
damaged ones. A picture is read by `assay run` with a network that changes nothing, and must have Pillow's
pixels, or fail where Pillow fails.

usage: pictures.py ASSAY [FOLDER…]   (Pillow 13, coremltools, numpy)

Differences that are meant are listed in docs/pictures.md; they are counted apart.
"""

import collections
import io
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import warnings

import coremltools
import numpy
from coremltools.models.neural_network import NeuralNetworkBuilder, flexible_shape_utils
from coremltools.proto import FeatureTypes_pb2
from PIL import Image, ImageOps

warnings.simplefilter("ignore")
assay = os.path.abspath(sys.argv[1])


def identity(path):
    arrays = coremltools.models.datatypes.Array(3, 8, 8)
    builder = NeuralNetworkBuilder([("image", arrays)], [("same", arrays)])
    builder.add_activation("same", "LINEAR", "image", "same", [1, 0])
    for feature in (builder.spec.description.input[0], builder.spec.description.output[0]):
        feature.type.imageType.width = feature.type.imageType.height = 8
        feature.type.imageType.colorSpace = FeatureTypes_pb2.ImageFeatureType.RGB
        sizes = flexible_shape_utils.NeuralNetworkImageSizeRange((1, 4096), (1, 4096))
        flexible_shape_utils.update_image_size_range(builder.spec, feature.name, sizes)
    coremltools.models.utils.save_spec(builder.spec, str(path))


def kinds(chance):
    """Names and contents of sound files."""
    base = Image.effect_noise((67, 45), 80).resize((67, 45))
    bands = [base.rotate(90 * turn).resize((67, 45), Image.Resampling.BICUBIC) for turn in range(4)]
    sources = {
        "L": base, "RGB": Image.merge("RGB", bands[:3]), "RGBA": Image.merge("RGBA", bands),
        "CMYK": Image.merge("CMYK", bands), "LA": Image.merge("LA", bands[:2]), "1": base.convert("1"),
        "P": Image.merge("RGB", bands[:3]).quantize(200), "I;16": base.convert("I;16").point(lambda v: v * 40),
        "YCbCr": Image.merge("YCbCr", bands[:3]),
    }
    for mode, source in sources.items():
        for options in (
            {}, {"quality": 20}, {"quality": 100, "subsampling": 0}, {"progressive": True},
            {"subsampling": 1}, {"subsampling": 2, "quality": 95}, {"optimize": True, "restart_marker_rows": 1},
            {"keep_rgb": True}, {"smooth": 30},
        ):
            out = io.BytesIO()
            try:
                source.save(out, "JPEG", **options)
            except OSError:
                continue
            yield f"{mode.replace(';', '')}_{len(out.getvalue())}.jpg", out.getvalue()
        for options in ({}, {"bits": 4}, {"transparency": 0}, {"compress_level": 0}, {"optimize": True}):
            out = io.BytesIO()
            try:
                source.save(out, "PNG", **options)
            except (OSError, ValueError):
                continue
            yield f"{mode.replace(';', '')}_{len(out.getvalue())}.png", out.getvalue()


def damaged(files, chance, count):
    files = [(name, contents) for name, contents in files if len(contents) < 60_000]
    for index in range(count):
        name, contents = chance.choice(files)
        contents = bytearray(contents)
        what = chance.randrange(5)
        if what == 0:
            contents = contents[: chance.randrange(len(contents))]
        elif what == 1:
            contents = contents[: -chance.randint(1, 12)]
        elif what == 2:
            contents += bytes(chance.randrange(256) for _ in range(chance.randint(1, 40)))
        else:
            for _ in range(chance.randint(1, 3)):
                contents[chance.randrange(len(contents))] = chance.randrange(256)
        yield f"damaged_{index}_{name}", bytes(contents)


def pillow(path):
    """Pixels in RGB as they stand and as they were seen; None where Pillow fails."""
    try:
        with Image.open(path) as image:
            if image.format not in ("PNG", "JPEG", "MPO"):
                return None
            pixels = numpy.asarray(image.convert("RGB"))
        try:
            with Image.open(path) as image:
                turned = numpy.asarray(ImageOps.exif_transpose(image).convert("RGB"))
        except Exception:
            turned = None
        return pixels, turned
    except Exception:
        return None


with tempfile.TemporaryDirectory() as folder:
    folder = pathlib.Path(folder)
    identity(folder / "same.mlmodel")
    chance = random.Random(5)
    (folder / "in").mkdir()
    sound = list(kinds(chance))
    real = []
    for source in sys.argv[2:]:
        for path in sorted(pathlib.Path(source).iterdir()):
            if path.suffix.lower() in (".png", ".jpg", ".jpeg"):
                real.append((path.name, path.read_bytes()))
    small = sound + [(n, c) for n, c in real if len(c) < 60_000]
    for name, contents in sound + real + list(damaged(small, chance, 1000)):
        (folder / "in" / name).write_bytes(contents)
    answers = {}
    for exif in ("ignore", "apply"):
        done = subprocess.run(
            [assay, "run", folder / "same.mlmodel", folder / "in", "--quiet", "--exif", exif, "-o",
             folder / exif, "--max-memory", "2G"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        assert done.returncode in (0, 2), done.returncode
        start = f"error: {folder}/in/"
        for line in done.stderr.splitlines():
            if line.startswith(start):
                name, _, reason = line.removeprefix(start).partition(": ")
                answers[exif, name] = reason
    counts = collections.Counter()
    stems = set()
    for path in sorted((folder / "in").iterdir()):
        stem, number = path.stem, 2
        while stem in stems:
            stem, number = f"{path.stem}-{number}", number + 1
        stems.add(stem)
        expected = pillow(path)
        error = answers.get(("ignore", path.name))
        if expected is None or error is not None:
            kind = "both fail" if expected is None and error else "only Pillow fails" if error is None else "only assay fails"
            counts[kind] += 1
            if kind != "both fail":
                reason = error
                if error is None:
                    try:
                        Image.open(path).convert("RGB")
                        reason = "?"
                    except Exception as fault:
                        reason = f"{type(fault).__name__}: {fault}"
                print(kind, path.name, reason)
            continue
        for exif, pixels in zip(("ignore", "apply"), expected):
            if pixels is None:
                counts["Pillow cannot turn"] += 1
                continue
            ours = numpy.asarray(Image.open(folder / exif / (stem + ".png")).convert("RGB"))
            same = ours.shape == pixels.shape and (ours == pixels).all()
            counts["equal" if same else "different"] += 1
            if not same:
                print("different", exif, path.name, ours.shape, pixels.shape)
    print("pictures:", ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items())))
