#!/usr/bin/env python3
"""Writes the HDF5 fixtures beside this file. Needs h5py and numpy.

The numbers follow formulas, which Tests/HDF5ReaderTests repeats: ramp(n)[i] = i / 4 - 3.
"""
import json
import os
import struct
import zlib

import h5py
import numpy as np

FOLDER = os.path.dirname(os.path.abspath(__file__))


def create(name, **options):
    return h5py.File(os.path.join(FOLDER, name), "w", libver="earliest", **options)


def ramp(count, dtype="<f4"):
    return (np.arange(count) / 4 - 3).astype(dtype)


def keras():
    """A file as Keras 2.x saves one, with the optimizer's state."""
    with create("keras.h5") as file:
        file.attrs["keras_version"] = b"2.2.4"
        file.attrs["backend"] = "tensorflow"
        file.attrs["model_config"] = json.dumps(
            {"class_name": "Sequential", "config": {"layers": [], "note": "é" * 40}},
            ensure_ascii=False,
        ).encode()
        weights = file.create_group("model_weights")
        weights.attrs["layer_names"] = np.array([b"conv2d_1", b"flatten", b"dense_1"])
        for layer, shapes in (
            ("conv2d_1", {"kernel:0": (3, 3, 2, 4), "bias:0": (4,)}),
            ("flatten", {}),
            ("dense_1", {"kernel:0": (4, 3), "bias:0": (3,)}),
        ):
            group = weights.create_group(layer)
            names = [f"{layer}/{name}".encode() for name in shapes]
            group.attrs["weight_names"] = np.array(names) if names else np.zeros(0)
            for name, shape in shapes.items():
                group[f"{layer}/{name}"] = ramp(int(np.prod(shape))).reshape(shape)
        state = file.create_group("optimizer_weights")
        state["training/Adam/iterations:0"] = np.int64(1234567890123)
        state["training/Adam/m"] = ramp(12, "<f8")


def types():
    """One dataset for every type that is read, little- and big-endian."""
    with create("types.h5") as file:
        for order, name in (("<", "little"), (">", "big")):
            group = file.create_group(name)
            for kind in ("f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"):
                values = np.arange(7) if kind[0] == "u" else np.arange(7) - 3
                if kind[0] == "f":
                    values = ramp(7)
                group[kind] = values.astype(order + kind)
        file["bool"] = np.array([True, False, True])
        file["scalar"] = np.float32(2.5)
        file["empty"] = np.zeros((0, 3), "<f4")
        file["null"] = h5py.Empty("f4")
        file["f2_special"] = np.array(
            [0x0000, 0x8000, 0x0001, 0x83FF, 0x0400, 0x3C01, 0x7BFF, 0x7C00, 0xFC00, 0x7E00],
            "<u2",
        ).view("<f2")
        # 1e300 has no neighbour in single precision but infinity.
        file["f8_wide"] = np.array([1 / 3, 1e300, -1e-300], "<f8")
        bfloat16 = h5py.h5t.IEEE_F32LE.copy()
        bfloat16.set_fields(15, 7, 8, 0, 7)
        bfloat16.set_size(2)
        bfloat16.set_ebias(127)
        space = h5py.h5s.create_simple((3,))
        dataset = h5py.h5d.create(file.id, b"bfloat16", bfloat16, space)
        dataset.write(h5py.h5s.ALL, h5py.h5s.ALL, np.array([1.5, -2.0, 0.0], "<f4"))
        file["unsupported"] = np.zeros(2, [("a", "<f4"), ("b", "<i4")])


def strings():
    """Strings as attributes and datasets: fixed with each padding, variable, split lists."""
    with create("strings.h5") as file:
        attributes = file.attrs
        attributes["fixed"] = b"plain"
        attributes["variable"] = "grün"
        attributes["empty"] = ""
        attributes["fixed_list"] = np.array([b"a", b"bcd", b""])
        attributes.create("variable_list", ["x", "yé", ""], dtype=h5py.string_dtype())
        attributes.create("empty_list", np.zeros(0, "S1"))
        for pad, name in (
            (h5py.h5t.STR_NULLTERM, "terminated"),
            (h5py.h5t.STR_NULLPAD, "null_padded"),
            (h5py.h5t.STR_SPACEPAD, "space_padded"),
        ):
            kind = h5py.h5t.C_S1.copy()
            kind.set_size(6)
            kind.set_strpad(pad)
            attribute = h5py.h5a.create(
                file.id, name.encode(), kind, h5py.h5s.create(h5py.h5s.SCALAR)
            )
            text = b"abc   " if pad == h5py.h5t.STR_SPACEPAD else b"abc\0\0\0"
            attribute.write(np.array(text, "S6"), mtype=kind)
        attributes["weight_names0"] = np.array([b"w0", b"w1"])
        attributes["weight_names1"] = np.array([b"w2"])
        attributes["double"] = 0.1
        attributes["integers"] = np.array([[1, 2, 3], [4, 5, -6]])
        attributes["flag"] = True
        attributes["nothing"] = h5py.Empty("f4")
        attributes["compound"] = np.zeros(1, [("a", "<f4")])
        file.create_dataset("variable", data=["one", "zwei", "três"], dtype=h5py.string_dtype())
        file["fixed"] = np.array([[b"ab", b"c"], [b"", b"defg"]])


def storage():
    """Contiguous, compact, chunked and filtered storage, and none at all."""
    with create("storage.h5") as file:
        data = ramp(120).reshape(10, 12)
        file["contiguous"] = data
        compact = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        compact.set_layout(h5py.h5d.COMPACT)
        dataset = h5py.h5d.create(
            file.id, b"compact", h5py.h5t.IEEE_F32LE, h5py.h5s.create_simple((6,)), compact
        )
        dataset.write(h5py.h5s.ALL, h5py.h5s.ALL, ramp(6))
        file.create_dataset("chunked", data=data, chunks=(7, 5))
        file.create_dataset("gzip", data=data, chunks=(10, 12), compression="gzip")
        file.create_dataset(
            "gzip_shuffle", data=data, chunks=(5, 12), compression="gzip", shuffle=True,
            fletcher32=True,
        )
        file.create_dataset("half_gzip", data=data.astype("<f2"), compression="gzip")
        file.create_dataset("unwritten", shape=(5,), dtype="<f4", fillvalue=1.5)


def filters():
    """Filters that are not read."""
    with create("filters.h5") as file:
        file.create_dataset("lzf", data=ramp(120), compression="lzf")
        file.create_dataset("scaleoffset", data=np.arange(50), scaleoffset=0)
        file["good"] = ramp(3)


def userblock():
    """512 bytes of something else in front."""
    with create("userblock.h5", userblock_size=512) as file:
        file["values"] = ramp(5)
    with open(os.path.join(FOLDER, "userblock.h5"), "r+b") as file:
        file.write(b"#!/bin/sh\n")


def links():
    """What is not followed, and what would never end."""
    with create("links.h5") as file:
        file["real"] = ramp(3)
        file["also"] = file["real"]
        file["soft"] = h5py.SoftLink("/real")
        file["dangling"] = h5py.SoftLink("/nowhere")
        file["external"] = h5py.ExternalLink("/etc/hostname", "/")
        group = file.create_group("group")
        group["cycle"] = file["/"]
        group["self"] = group
        group["values"] = ramp(2)
        file["again"] = group


def foreign():
    """Data outside the file: external raw storage and a virtual dataset."""
    with create("foreign.h5") as file:
        file.create_dataset(
            "external", shape=(4,), dtype="u1", external=[("/etc/hostname", 0, 4)]
        )
        layout = h5py.VirtualLayout(shape=(4,), dtype="<f4")
        layout[:] = h5py.VirtualSource("storage.h5", "contiguous", shape=(10, 12))[0, :4]
        file["good"] = ramp(3)
    with h5py.File(os.path.join(FOLDER, "virtual.h5"), "w", libver=("v110", "v110")) as file:
        file.create_virtual_dataset("virtual", layout)
        file["good"] = ramp(3)


def bombs():
    """A few bytes that declare terabytes."""
    with create("bomb.h5") as file:
        file.create_dataset("shape", shape=(2**20, 2**20), dtype="<f4", chunks=(1024, 1024))
        file.create_dataset("large", shape=(2**10, 2**12), dtype="<f4", chunks=(64, 64))
        file.create_dataset("unallocated", shape=(2**20,), dtype="<f4")
        file.create_dataset("rank", shape=(1,) * 12, dtype="<f4")
        file.create_dataset(
            "zeros", data=np.zeros(2**20, "<f4"), chunks=(2**20,), compression="gzip",
            compression_opts=9, shuffle=True,
        )
        file["good"] = ramp(3)


def deep():
    """Groups in groups, forty deep."""
    with h5py.File(os.path.join(FOLDER, "deep.h5"), "w", libver="latest") as file:
        group = file
        for _ in range(40):
            group = group.create_group("g")
        group["values"] = ramp(2)


def modern():
    """The newest file format: superblock 3, new groups, attributes in dense storage."""
    with h5py.File(os.path.join(FOLDER, "modern.h5"), "w", libver="latest") as file:
        group = file.create_group("layers/dense", track_order=True)
        for index in range(12):
            group.attrs[f"a{index}"] = index
        group["vars/0"] = ramp(6).reshape(2, 3)
        group.create_dataset("chunked", data=ramp(40), chunks=(8,), maxshape=(None,))


def patch(name, old, new):
    """Replaces the only occurrence of `old` in the file."""
    path = os.path.join(FOLDER, name)
    with open(path, "rb") as file:
        data = file.read()
    assert data.count(old) == 1, (name, data.count(old))
    with open(path, "wb") as file:
        file.write(data.replace(old, new))


def move(name, dataset, offset=None, size=None):
    """Changes the address or the size that a contiguous dataset declares."""
    with h5py.File(os.path.join(FOLDER, name)) as file:
        place = file[dataset].id.get_offset(), file[dataset].id.get_storage_size()
    new = place[0] if offset is None else offset, place[1] if size is None else size
    patch(name, struct.pack("<QQ", *place), struct.pack("<QQ", *new))


def incomplete():
    """Datasets of which a part is not in the file, and others that only look like it."""
    with create("incomplete.h5") as file:
        data = ramp(12).reshape(4, 3)
        short = {"shape": (4, 3), "dtype": "<f4"}
        file.create_dataset("never_written", **short)
        file.create_dataset("chunks_never_written", **short, chunks=(2, 3))
        file.create_dataset("chunk_missing", **short, chunks=(2, 3))[:2] = data[:2]
        file.create_dataset("chunk_short", **short, chunks=(4, 3)).id.write_direct_chunk(
            (0, 0), data[:2].tobytes()
        )
        stream = zlib.compress(data[:2].tobytes())
        file.create_dataset("gzip_short", **short, chunks=(4, 3), compression="gzip")
        file["gzip_short"].id.write_direct_chunk((0, 0), stream)
        file.create_dataset("gzip_long", **short, chunks=(4, 3), compression="gzip")
        file["gzip_long"].id.write_direct_chunk((0, 0), zlib.compress(bytes(52)))
        file.create_dataset("gzip_cut", **short, chunks=(4, 3), compression="gzip")
        file["gzip_cut"].id.write_direct_chunk((0, 0), stream[:-6])
        # The mask says that no filter was applied.
        file.create_dataset("gzip_plain_short", **short, chunks=(4, 3), compression="gzip")
        file["gzip_plain_short"].id.write_direct_chunk((0, 0), data[:2].tobytes(), 1)
        file.create_dataset(
            "shuffle_gzip_short", **short, chunks=(4, 3), compression="gzip", shuffle=True
        )
        file["shuffle_gzip_short"].id.write_direct_chunk((0, 0), stream)
        file.create_dataset("large_short", (4, 4096), "<f4", chunks=(4, 4096), compression="gzip")
        file["large_short"].id.write_direct_chunk((0, 0), stream)
        file["size"] = ramp(12)
        never = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        never.set_fill_value(np.array(1.5, "<f4"))
        never.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
        space = h5py.h5s.create_simple((4, 3))
        h5py.h5d.create(file.id, b"never_filled", h5py.h5t.IEEE_F32LE, space, never)

        file.create_dataset("filled", **short, chunks=(2, 3), fillvalue=1.5)[:2] = data[:2]
        file.create_dataset("filled_gzip", **short, chunks=(3, 2), compression="gzip", fillvalue=1.5)
        file["filled_gzip"][:2] = data[:2]
        file.create_dataset("gzip_plain", **short, chunks=(4, 3), compression="gzip")
        file["gzip_plain"].id.write_direct_chunk((0, 0), data.tobytes(), 1)
        file.create_dataset(
            "checked", data=data, chunks=(3, 2), compression="gzip", shuffle=True, fletcher32=True
        )
        file.create_dataset("growing", data=data, chunks=(8, 8), maxshape=(None, None))
        file.create_dataset("empty_chunks", (0, 3), "<f4", chunks=(2, 3), maxshape=(None, 3))
    move("incomplete.h5", "size", size=8)


def chunks():
    """Seeds of the fuzz target `chunks`: every filter, a missing chunk, contiguous data beside them."""
    data = ramp(24).reshape(6, 4)
    for name, options in (
        ("plain", {}), ("gzip", {"compression": "gzip"}),
        ("shuffled", {"compression": "gzip", "shuffle": True}),
        ("checked", {"compression": "gzip", "fletcher32": True}),
        ("checksum", {"fletcher32": True}), ("filled", {"compression": "gzip", "fillvalue": 1.5}),
    ):
        with create(f"{name}-chunks.h5") as file:
            file["a"] = ramp(5)
            file.create_dataset("b", (6, 4), "<f4", chunks=(2, 3), **options)
            file["b"][: 4 if name == "filled" else 6] = data[: 4 if name == "filled" else 6]
            file.create_dataset("c", data=data.astype("<f2"), chunks=(6, 4), **options)


def overlapping():
    """Values where other values or the structure of the file are."""
    for name, target in (
        ("values", lambda file: file["b"].id.get_offset() + 8),
        ("superblock", lambda file: 4),
        ("object", lambda file: h5py.h5o.get_info(file["b"].id).addr + 40),
        ("group", lambda file: h5py.h5o.get_info(file["group"].id).addr + 8),
    ):
        name = f"overlap-{name}.h5"
        with create(name) as file:
            file["a"] = ramp(12)
            file["b"] = ramp(5)
            file.create_group("group")["c"] = ramp(6)
            offset = target(file)
        move(name, "a", offset=offset)
    with create("overlap-itself.h5") as file:
        file.create_dataset("a", data=ramp(12), chunks=(6,))
        places = [file["a"].id.get_chunk_info(index).byte_offset for index in range(2)]
    patch("overlap-itself.h5", struct.pack("<Q", places[1]), struct.pack("<Q", places[0] + 8))


def networks():
    """A dense layer whose kernel is damaged in one way each; in the last one it is 0.25, declared."""
    kernel = ramp(12).reshape(4, 3)
    stream = zlib.compress(kernel[:2].tobytes())
    for name in ("gzip-short", "chunk-missing", "never-written", "size", "overlap", "filled"):
        with create(f"network-{name}.h5") as file:
            layer = {
                "name": "d", "units": 3, "use_bias": True, "activation": "linear",
                "batch_input_shape": [None, 4], "dtype": "float32",
            }
            file.attrs["keras_version"] = "2.2.4"
            file.attrs["backend"] = "tensorflow"
            file.attrs["model_config"] = json.dumps(
                {
                    "class_name": "Sequential",
                    "config": {
                        "name": "s", "layers": [{"class_name": "Dense", "config": layer}]
                    },
                }
            )
            weights = file.create_group("model_weights")
            weights.attrs["layer_names"] = np.array([b"d"])
            group = weights.create_group("d")
            group.attrs["weight_names"] = np.array([b"d/kernel:0", b"d/bias:0"])
            group["d/bias:0"] = ramp(3)
            options = {"shape": (4, 3), "dtype": "<f4"}
            if name == "gzip-short":
                dataset = group.create_dataset(
                    "d/kernel:0", **options, chunks=(4, 3), compression="gzip"
                )
                dataset.id.write_direct_chunk((0, 0), stream)
            elif name == "chunk-missing":
                group.create_dataset("d/kernel:0", **options, chunks=(2, 3))[:2] = kernel[:2]
            elif name == "filled":
                group.create_dataset("d/kernel:0", **options, fillvalue=0.25)
            else:
                group.create_dataset("d/kernel:0", **options)
                if name != "never-written":
                    group["d/kernel:0"][...] = kernel
            bias = group["d/bias:0"].id.get_offset()
        if name == "size":
            move(f"network-{name}.h5", "model_weights/d/d/kernel:0", size=8)
        if name == "overlap":
            move(f"network-{name}.h5", "model_weights/d/d/kernel:0", offset=bias)


if __name__ == "__main__":
    keras()
    types()
    strings()
    storage()
    filters()
    userblock()
    links()
    foreign()
    bombs()
    deep()
    modern()
    incomplete()
    chunks()
    overlapping()
    networks()
