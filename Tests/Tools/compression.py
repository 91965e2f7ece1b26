#!/usr/bin/env python3
"""Compresses the style transfer network in every way and compares the pictures with Keras' own.

    compression.py ASSAY SEED OUT [INPUTS]

ASSAY is the program, SEED the folder with style.h5, style_input.png and style.expected.npz, INPUTS a
folder of other pictures of 320 × 320 by which biases are corrected in a second measurement. Prints a
table of sizes and PSNRs and writes OUT/sheet.png, a contact sheet, beside the models. Exits with 1
where a size is more than 2 % off what the format needs, or a picture is worse than what the plain
methods gave in Keras. Needs numpy and Pillow.
"""
import json
import os
import subprocess
import sys

import numpy as np
from PIL import Image, ImageDraw

# What float16 with folded batch normalization, the plain linear codes of each channel, and k-means of
# each weight gave in Keras itself, in decibels.
LEAST = {
    ("float16", ""): 73.6,
    ("8", "linear"): 52.1, ("6", "linear"): 39.4, ("4", "linear"): 28.4, ("2", "linear"): 11.0,
    ("8", "kmeans_lut"): 40.3, ("6", "kmeans_lut"): 35.3, ("4", "kmeans_lut"): 26.1,
    ("2", "kmeans_lut"): 17.0,
}
MODES = ["linear", "linear_symmetric", "linear_lut", "kmeans_lut"]
RULES = """[{ "class": "Lambda", "function": "res_crop", "className": "ResCropBlockLambda" },
 { "class": "Lambda", "function": "rescale_output", "className": "RescaleOutputLambda" }]"""


def main():
    assay, seed, out, *inputs = sys.argv[1:5]
    os.makedirs(out, exist_ok=True)

    def run(*arguments):
        result = subprocess.run([assay, *arguments], capture_output=True, text=True)
        if result.returncode:
            sys.exit(f"assay {' '.join(arguments)}: {result.stderr}")
        return result.stdout

    expected = np.squeeze(np.load(f"{seed}/style.expected.npz")[
        np.load(f"{seed}/style.expected.npz").files[0]]).astype(np.float64)
    rules = f"{out}/rules.json"
    with open(rules, "w") as file:
        file.write(RULES)
    model = f"{out}/float32.mlmodel"
    run("convert", f"{seed}/style.h5", "-o", model, "--input-name", "image", "--output-name",
        "output", "--custom-layers", rules, "--image-input", "image", "--image-output", "output")

    def psnr(path):
        run("run", path, f"{seed}/style_input.png", "-o", f"{path}.npz")
        with np.load(f"{path}.npz") as arrays:
            found = np.squeeze(arrays[arrays.files[0]]).astype(np.float64)
        Image.fromarray(np.clip(np.rint(found), 0, 255).astype(np.uint8)).save(f"{path}.png")
        error = np.mean((found - expected) ** 2)
        return np.inf if error == 0 else 10 * np.log10(255.0**2 / error)

    def needed(report, bits):
        """Bytes that the format needs: codes of the kernels, scales or tables, floats of the rest."""
        total = 0
        for layer in report["layers"]:
            storage = layer["storage"].split(" + ")
            if len(storage) == 1:
                total += layer["count"] * (2 if storage[0] == "float16" else 4)
                continue
            # A convolution: a kernel in codes and a bias a channel.
            outputs = layer["outputs"]
            total += -(-(layer["count"] - outputs) * bits // 8) + 4 * outputs
            total += 8 * outputs if "linear" in storage[0] else 4 << bits
        return total

    rows, pictures, isGood = [], [], True
    first = json.loads(run("inspect", model, "--json"))
    outputs = {layer["name"]: next(
        (shape[2] for shape in layer["outputShapes"] if shape and len(shape) == 5), 0)
        for layer in first["layers"]}
    jobs = [("float32", ""), ("float16", "unfolded"), ("float16", "")]
    jobs += [(str(bits), mode) for mode in MODES for bits in (8, 6, 4, 2)]
    for precision, mode in jobs:
        name = precision + (f"-{mode}" if mode else "")
        path = f"{out}/{name}.mlmodel"
        if precision == "float32":
            before, size, ideal = None, None, None
            path = model
        else:
            options = (["--precision", precision] if precision == "float16"
                       else ["--bits", precision, "--mode", mode])
            if mode == "unfolded":
                options.append("--no-fold")
            report = json.loads(run("compress", model, "-o", path, "--json", *options))
            for layer in report["layers"]:
                layer["outputs"] = outputs.get(layer["name"], 0)
            before, size = report["bytesBefore"], report["bytesAfter"]
            ideal = needed(report, int(precision) if precision.isdigit() else 16)
        quality = psnr(path)
        corrected = None
        if inputs and precision.isdigit():
            other = f"{out}/{name}-inputs.mlmodel"
            run("compress", model, "-o", other, "--quiet", *options, "--inputs", inputs[0])
            corrected = psnr(other)
        least = LEAST.get((precision, mode))
        notes = []
        if size is not None and abs(size - ideal) > 0.02 * ideal:
            notes.append(f"SIZE, {ideal} needed")
        if least is not None and quality < least:
            notes.append("WORSE")
        if mode == "unfolded" and (before, size) != (2208012, 1104006):
            notes.append(f"{before} → {size} bytes, not 2208012 → 1104006")
        isGood &= not notes
        rows.append((name, size, os.path.getsize(path), quality, corrected, least, ", ".join(notes)))
        pictures.append((name, f"{path}.png", quality))
    print(f"{'':24}{'weights':>10}{'file':>10}{'PSNR':>8}{'inputs':>8}{'plain':>8}")
    for name, size, bytes_, quality, corrected, least, notes in rows:
        other = f"{corrected:.1f}" if corrected else ""
        print(f"{name:24}{size or '':>10}{bytes_:>10}{quality:8.1f}{other:>8}{least or '':>8}  {notes}")
    sheet(pictures, f"{out}/sheet.png")
    return 0 if isGood else 1


def sheet(pictures, path, columns=4, width=240):
    """All pictures in rows, each with its name and PSNR."""
    tiles = []
    for name, file, quality in pictures:
        picture = Image.open(file)
        height = picture.height * width // picture.width
        tile = Image.new("RGB", (width, height + 16), "white")
        tile.paste(picture.resize((width, height), Image.LANCZOS), (0, 16))
        ImageDraw.Draw(tile).text((2, 2), f"{name}  {quality:.1f} dB", fill="black")
        tiles.append(tile)
    # The float pictures fill the first row.
    while len(tiles) % columns and len(tiles) > 3:
        tiles.insert(3, Image.new("RGB", tiles[0].size, "white"))
    rows = -(-len(tiles) // columns)
    result = Image.new("RGB", (columns * (width + 4), rows * (tiles[0].height + 4)), "white")
    for index, tile in enumerate(tiles):
        result.paste(tile, (index % columns * (width + 4), index // columns * (tile.height + 4)))
    result.save(path)


if __name__ == "__main__":
    sys.exit(main())
