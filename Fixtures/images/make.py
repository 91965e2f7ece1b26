"""Makes the pictures of this folder and what Pillow reads from them.

expected.json: for each file its size and the bytes of convert("RGB") and convert("L"), in
hexadecimal. Run: python3 make.py (Pillow 13).

resized.txt: pictures of random samples (`random_picture`) in another size: filter, channels, size before and
after, CRC-32.

oriented_N.jpg, oriented_N_KIND.png and oriented.txt: a picture with each of Exif's orientations, said in
each place where Pillow looks for it, and the size and the CRC-32 of ImageOps.exif_transpose's result.
`make.py oriented` makes these alone.

With a folder as argument, prints instead for each file in it the size and the CRC-32 of both
conversions, then size and CRC-32 of exif_transpose's result in colour, or "error", one line a file:
that is corpus.txt.
"""

import io
import json
import pathlib
import random
import struct
import sys
import textwrap
import warnings
import zlib

from PIL import Image, ImageOps, PngImagePlugin

warnings.simplefilter("ignore")


def conversions(source):
    image = Image.open(source)
    if image.format not in ("PNG", "JPEG"):
        raise OSError(image.format)
    image.load()
    return image.size, image.convert("RGB").tobytes(), image.convert("L").tobytes()


def random_picture(width, height, channels):
    """The upper bytes of a linear congruential sequence."""
    state, samples = width * 65536 + height, bytearray()
    for _ in range(width * height * channels):
        state = (state * 1664525 + 1013904223) % 2**32
        samples.append(state >> 24)
    return Image.frombytes("L" if channels == 1 else "RGB", (width, height), bytes(samples))


def resized(target):
    chance = random.Random(40)
    pairs = [(64, 48, 32, 24), (33, 17, 99, 51), (20, 20, 20, 7), (5, 90, 12, 90), (1, 1, 9, 4)]
    pairs += [(90, 70, 1, 1), (31, 31, 31, 31)]
    while len(pairs) < 40:
        pairs.append(tuple(chance.randint(1, 120) for _ in range(4)))
    with open(target, "w") as file:
        for name in ("nearest", "box", "bilinear", "hamming", "bicubic", "lanczos"):
            for channels in (1, 3):
                for before_x, before_y, after_x, after_y in pairs:
                    picture = random_picture(before_x, before_y, channels)
                    bytes = picture.resize((after_x, after_y), Image.Resampling[name.upper()]).tobytes()
                    print(
                        name, channels, before_x, before_y, after_x, after_y,
                        f"{zlib.crc32(bytes):08x}", file=file)


def oriented(folder):
    picture = random_picture(11, 6, 3).resize((44, 24), Image.Resampling.BICUBIC)
    xmp = '<x:xmpmeta><rdf:Description tiff:Orientation="%d"/></x:xmpmeta>'

    def exif(orientation):
        exif = Image.Exif()
        exif[0x0110] = "before the orientation"
        exif[0x0112] = orientation
        return exif

    def save(name, **options):
        picture.save(folder / name, **options)
        turned = ImageOps.exif_transpose(Image.open(folder / name)).convert("RGB")
        print(name, *turned.size, f"{zlib.crc32(turned.tobytes()):08x}", file=file)

    def text(key, value, compressed=False, international=False):
        info = PngImagePlugin.PngInfo()
        (info.add_itxt if international else info.add_text)(key, value, zip=compressed)
        return info

    with open(folder / "oriented.txt", "w") as file:
        for orientation in range(1, 9):
            save(f"oriented_{orientation}.jpg", exif=exif(orientation))
        save("oriented_6.png", exif=exif(6))
        save("oriented_7_xmp.jpg", xmp=(xmp % 7).encode())
        content = b"Exif\0\0" + exif(8).tobytes().removeprefix(b"Exif\0\0")
        digits = "\n".join(textwrap.wrap(content.hex(), 72))
        profile = f"\nexif\n{len(content):8}\n{digits}\n"
        save("oriented_8_text.png", pnginfo=text("Raw profile type exif", profile))
        save("oriented_8_ztext.png", pnginfo=text("Raw profile type exif", profile, True))
        key = "XML:com.adobe.xmp"
        save("oriented_3_xmp.png", pnginfo=text(key, xmp % 3, international=True))
        save("oriented_5_zxmp.png", pnginfo=text(key, xmp % 5, True, True))


def corpus(folder):
    for path in sorted(pathlib.Path(folder).iterdir()):
        try:
            (width, height), rgb, grey = conversions(path)
            turned = ImageOps.exif_transpose(Image.open(path)).convert("RGB")
            print(
                path.name, width, height, f"{zlib.crc32(rgb):08x} {zlib.crc32(grey):08x}",
                *turned.size, f"{zlib.crc32(turned.tobytes()):08x}")
        except Exception:
            print(path.name, "error")


if sys.argv[1:] == ["oriented"]:
    oriented(pathlib.Path(__file__).parent)
    sys.exit()
if len(sys.argv) > 1:
    corpus(sys.argv[1])
    sys.exit()

here = pathlib.Path(__file__).parent
width, height = 13, 7
noise = random.Random(1)
expected = {}


def record(name, contents):
    (here / name).write_bytes(contents)
    size, rgb, grey = conversions(io.BytesIO(contents))
    expected[name] = {"width": size[0], "height": size[1], "rgb": rgb.hex(), "grey": grey.hex()}


# Portable network graphics (W3C), written here, since Pillow does not write every kind.
def chunk(tag, data):
    return struct.pack(">I", len(data)) + tag + data + struct.pack(">I", zlib.crc32(tag + data))


def packed(rows, bits):
    """Rows of samples as filter byte 0 and bits packed from the left."""
    out = b""
    for row in rows:
        value = "".join(format(sample, f"0{bits}b") for sample in row)
        value += "0" * (-len(value) % 8)
        out += b"\0" + int(value, 2).to_bytes(len(value) // 8, "big")
    return out


ADAM7 = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]


def png(colour, bits, channels, interlaced=False, largest=None, extra=b""):
    largest = largest or 2**bits - 1
    pixels = [
        [[noise.randint(0, largest) for _ in range(channels)] for _ in range(width)]
        for _ in range(height)
    ]

    def rows(x0, y0, dx, dy):
        return [sum(row[x0::dx], []) for row in pixels[y0::dy] if row[x0::dx]]

    passes = ADAM7 if interlaced else [(0, 0, 1, 1)]
    data = b"".join(packed(rows(*p), bits) for p in passes)
    header = struct.pack(">IIBBBBB", width, height, bits, colour, 0, 0, int(interlaced))
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + extra
        + chunk(b"IDAT", zlib.compress(data)) + chunk(b"IEND", b"")
    )


palette = bytes(noise.randint(0, 255) for _ in range(3 * 256))
for bits in (1, 2, 4, 8, 16):
    record(f"grey{bits}.png", png(0, bits, 1))
    if bits <= 8:
        colours = chunk(b"PLTE", palette[: 3 * 2**bits])
        record(f"palette{bits}.png", png(3, bits, 1, extra=colours))
for bits in (8, 16):
    record(f"rgb{bits}.png", png(2, bits, 3))
    record(f"grey_alpha{bits}.png", png(4, bits, 2))
    record(f"rgba{bits}.png", png(6, bits, 4))
record("rgb8_interlaced.png", png(2, 8, 3, interlaced=True))
record("grey4_interlaced.png", png(0, 4, 1, interlaced=True))
record("grey16_interlaced.png", png(0, 16, 1, interlaced=True))
record("grey16_dark.png", png(0, 16, 1, largest=300))
record("rgb8_transparent.png", png(2, 8, 3, extra=chunk(b"tRNS", b"\0\1\0\2\0\3")))
short = chunk(b"PLTE", palette[:30]) + chunk(b"tRNS", b"\0\x80")
record("palette8_short.png", png(3, 8, 1, largest=9, extra=short))
gamma = chunk(b"gAMA", struct.pack(">I", 100000)) + chunk(b"tEXt", b"a\0b")
record("rgb8_gamma.png", png(2, 8, 3, extra=gamma))


def jpeg(mode, **options):
    size = (37, 29)
    smooth = Image.effect_noise((9, 9), 90).resize(size, Image.Resampling.BICUBIC)
    bands = [
        smooth.transpose(t)
        for t in (0, 1, Image.Transpose.ROTATE_180, Image.Transpose.ROTATE_180)
    ]
    source = Image.merge(mode, [b.resize(size) for b in bands[: len(mode)]]) if mode != "L" else smooth
    out = io.BytesIO()
    source.save(out, "JPEG", **options)
    return out.getvalue()


for name, subsampling in (("444", 0), ("422", 1), ("420", 2)):
    record(f"{name}.jpg", jpeg("RGB", quality=85, subsampling=subsampling))
    record(
        f"{name}_progressive.jpg", jpeg("RGB", quality=60, subsampling=subsampling, progressive=True)
    )
record("grey.jpg", jpeg("L", quality=75))
record("rgb.jpg", jpeg("RGB", quality=90, keep_rgb=True))
record("cmyk.jpg", jpeg("CMYK", quality=90))
record("restart.jpg", jpeg("RGB", quality=75, restart_marker_blocks=1))

lines = [f"{json.dumps(name)}: {json.dumps(entry)}" for name, entry in expected.items()]
(here / "expected.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")

resized(here / "resized.txt")
oriented(here)
