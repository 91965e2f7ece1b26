"""Runs a network on a folder of 1,000 pictures of which 10 are broken, and checks what `docs/spark.md` says:
990 results and 10 errors with names, exit code 2, four shards with the same lines as one run, and memory
that does not grow with the number of pictures.

usage: thousand_images.py ASSAY   (Linux; Python's own library is enough)
"""

import json
import os
import pathlib
import random
import resource
import struct
import subprocess
import sys
import tempfile
import zlib

assay = os.path.abspath(sys.argv[1])
root = pathlib.Path(__file__).resolve().parents[2]
demo = root / "Fixtures/demo"
side, pictures, broken = 500, 1000, 10


def png(chance):
    """A picture of random colors in large squares."""

    def chunk(tag, data):
        return struct.pack(">I", len(data)) + tag + data + struct.pack(">I", zlib.crc32(tag + data))

    rows = []
    for _ in range(side // 50):
        row = b"".join(bytes(chance.randrange(256) for _ in range(3)) * 50 for _ in range(side // 50))
        rows += [b"\0" + row] * 50
    header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    body = chunk(b"IDAT", zlib.compress(b"".join(rows), 1)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + body


def run(*arguments, **options):
    """Lines, exit code, and the greatest resident size in MiB of any command so far."""
    command = [assay, "run", *map(str, arguments), "--json", "--resize", "squash"]
    done = subprocess.run(command, capture_output=True, text=True, **options)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    return done.stdout.splitlines(), done.returncode, peak


def check(condition, message):
    if not condition:
        sys.exit(f"thousand_images: {message}")


with tempfile.TemporaryDirectory() as folder:
    folder = pathlib.Path(folder)
    model = folder / "m.mlmodel"
    subprocess.run(
        [assay, "convert", demo / "swish.h5", "-o", model, "--input-name", "image", "--image-input",
         "image", "--image-scale", "1/127.5", "--custom-layers", demo / "rules.json"], check=True)
    chance = random.Random(1000)
    bad = set(chance.sample(range(pictures), broken))
    files = [png(chance) for _ in range(20)]
    (folder / "few").mkdir()
    (folder / "in").mkdir()
    names = [f"{index:04}.png" for index in range(pictures)]
    for index, name in enumerate(names):
        contents = files[index % len(files)]
        if index in bad:
            cut = chance.randrange(len(contents))
            flipped = bytes([contents[cut] ^ 0x55])
            contents = [contents[:cut], contents[:cut] + flipped + contents[cut + 1 :], b""][index % 3]
        (folder / "in" / name).write_bytes(contents)
        if index < 20:
            (folder / "few" / name).write_bytes(files[index])

    few = run(model, folder / "few")[2]
    lines, code, many = run(model, folder / "in")
    objects = [json.loads(line) for line in lines]
    errors = [pathlib.Path(o["input"]).name for o in objects if "error" in o]
    check(code == 2, f"exit code {code}")
    check([pathlib.Path(o["input"]).name for o in objects] == names, "not every picture has its line")
    check(errors == [names[index] for index in sorted(bad)], f"errors for {errors}")
    check(sum("outputs" in o for o in objects) == pictures - broken, "not every good picture is answered")
    check(many < few * 1.25 + 8, f"{many:.0f} MiB for {pictures} pictures, {few:.0f} for 20")

    shards = [run(model, folder / "in", "--shard", f"{i}/4") for i in range(1, 5)]
    check([shards[k % 4][0][k // 4] for k in range(pictures)] == lines, "shards have other lines")
    listed = "".join(f"{folder}/in/{name}\n" for name in names)
    check(run(model, "-", input=listed)[0] == lines, "a list has other lines than a folder")
    print(
        f"thousand_images: {pictures - broken} results and {broken} errors, four shards the same, "
        f"{few:.0f} MiB for 20 pictures, {many:.0f} MiB for {pictures}")
