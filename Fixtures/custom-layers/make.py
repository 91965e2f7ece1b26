"""Values of custom layers as their source frameworks compute them.

    python make.py tensorflow   (TensorFlow 2.21, Keras 3)  writes tensorflow.json
    python make.py torch        (PyTorch 2, torchvision)    writes torch.json
    python make.py numpy        (NumPy)                     writes numpy.json

Every case: the class, its parameters by type, its weights, and inputs and outputs with Core ML's
shapes, `[Seq, Batch, C, H, W]` or exact ones. The arrays are random numbers of a fixed seed.
"""

import json
import os
import sys

import numpy as np

CASES = []
random = np.random.default_rng(11)


def array(*shape, scale=2.0):
    return (random.standard_normal(shape) * scale).astype(np.float32)


def parameter(value):
    if isinstance(value, bool):
        return {"bool": value}
    if isinstance(value, int):
        return {"int": value}
    if isinstance(value, float):
        return {"double": value}
    return {"string": value}


def case(name, layer, inputs, outputs, parameters={}, weights=[], engine_name=None):
    def tensor(a):
        a = np.asarray(a, np.float32)
        return {"shape": list(a.shape), "values": [float("%.9g" % v) for v in a.reshape(-1)]}

    CASES.append({
        "name": name, "class": layer,
        "parameters": {key: parameter(value) for key, value in parameters.items()},
        "weights": [tensor(w)["values"] for w in weights],
        "inputs": [tensor(a) for a in inputs], "outputs": [tensor(a) for a in outputs]})


def rank5(a):
    """N, C, H, W as Seq, Batch, C, H, W."""
    return np.asarray(a)[None]


def tensorflow_cases():
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
    import keras
    import tensorflow as tf

    def image(nhwc):
        return np.transpose(np.asarray(nhwc), (0, 3, 1, 2))

    x = np.concatenate([array(57, scale=3), np.float32([-30, -9, -3, 0, 3, 9, 30])])
    flat = x.reshape(1, 1, 4, 4, 4)
    for layer, function, parameters in [
        ("HardSwish", keras.activations.hard_silu, {}),
        ("Mish", keras.activations.mish, {}),
        ("GELU", lambda v: keras.activations.gelu(v, approximate=False), {}),
        ("GELU", lambda v: keras.activations.gelu(v, approximate=True), {"approximate": True}),
        ("GELU", lambda v: keras.activations.gelu(v, approximate=True), {"approximate": "tanh"}),
        ("Swish", lambda v: v * tf.sigmoid(1.5 * v), {"beta": 1.5}),
    ]:
        y = np.asarray(function(tf.constant(x))).reshape(flat.shape)
        case(f"{layer} {parameters}", layer, [flat], [y], parameters)
    case("Mish of two axes", "Mish", [x.reshape(8, 8)],
         [np.asarray(keras.activations.mish(x)).reshape(8, 8)])

    nhwc = array(2, 3, 5, 6) + 1
    for name, layer, groups, parameters in [
        ("groups of three", "GroupNormalization", 2, {"groups": 2, "epsilon": 0.001}),
        ("a group each", "GroupNormalization", -1, {"groups": -1, "epsilon": 0.001}),
        ("instances", "InstanceNormalization", -1, {"epsilon": 0.001}),
    ]:
        norm = keras.layers.GroupNormalization(groups=groups)
        norm.build(nhwc.shape)
        gamma, beta = array(6), array(6)
        norm.set_weights([gamma, beta])
        case(name, layer, [rank5(image(nhwc))], [rank5(image(norm(nhwc)))], parameters,
             [gamma, beta])

    gamma = array(6)
    unit = np.asarray(tf.math.l2_normalize(nhwc, axis=-1))
    case("unit channels", "L2Normalization", [rank5(image(nhwc))], [rank5(image(unit * gamma))],
         weights=[gamma])
    rows = np.asarray(tf.math.l2_normalize(nhwc, axis=2))
    case("unit rows", "L2Normalization", [image(nhwc)], [image(rows)], {"axis": -1})
    case("softmax of the channels", "Softmax", [rank5(image(nhwc))],
         [rank5(image(tf.nn.softmax(nhwc, axis=-1)))])
    case("softmax of the rows", "Softmax", [rank5(image(nhwc))],
         [rank5(image(tf.nn.softmax(nhwc, axis=1)))], {"axis": -2})
    case("softmax of the columns", "Softmax", [image(nhwc)],
         [image(tf.nn.softmax(nhwc, axis=2))], {"axis": 3})

    blocks = array(2, 4, 6, 3)
    deep = tf.nn.space_to_depth(blocks, 2)
    case("blocks of two", "SpaceToDepth", [rank5(image(blocks))], [rank5(image(deep))],
         {"block_size": 2})
    case("blocks of two back", "DepthToSpace", [rank5(image(deep))], [rank5(image(blocks))],
         {"block_size": 2})

    small = array(1, 4, 5, 2)
    for height, width in [(7, 9), (3, 2), (8, 10)]:
        for corners, half in [(False, False), (True, False), (False, True)]:
            for mode, resize in [("bilinear", tf.compat.v1.image.resize_bilinear),
                                 ("nearest", tf.compat.v1.image.resize_nearest_neighbor)]:
                y = resize(small, (height, width), align_corners=corners, half_pixel_centers=half)
                case(f"{mode} to {height} × {width}, {corners}, {half}", "Resize",
                     [rank5(image(small))], [rank5(image(y))],
                     {"height": height, "width": width, "mode": mode, "align_corners": corners,
                      "half_pixel": half})


def torch_cases():
    import torch
    import torch.nn.functional as F
    import torchvision

    def t(a):
        return torch.from_numpy(np.ascontiguousarray(a))

    x = array(2, 6, 3, 5) + 1
    gamma, beta = array(6), array(6)
    y = F.group_norm(t(x), 3, t(gamma), t(beta))
    case("kraken's groups", "groupnorm", [rank5(x)], [rank5(y)],
         {"in_channels": 6, "num_groups": 3}, [gamma, beta])
    case("instances without weights", "InstanceNormalization", [x], [F.instance_norm(t(x))])
    shuffled = array(1, 8, 3, 2)
    wide = F.pixel_shuffle(t(shuffled), 2)
    case("pixel shuffle", "PixelShuffle", [rank5(shuffled)], [rank5(wide)],
         {"scale": 2, "mode": "CRD"})
    case("pixel unshuffle", "SpaceToDepth", [rank5(wide)], [rank5(shuffled)],
         {"block_size": 2, "mode": "CRD"})
    for corners in (False, True):
        y = F.interpolate(t(x), scale_factor=2, mode="bilinear", align_corners=corners)
        case(f"twice the size, {corners}", "Resize", [rank5(x)], [rank5(y)],
             {"scale": 2.0, "half_pixel": not corners, "align_corners": corners})

    grid = np.clip(array(2, 4, 3, 2, scale=0.8), -2.5, 2.5)
    for mode in ("bilinear", "nearest"):
        for padding in ("zeros", "border", "reflection"):
            for corners in (False, True):
                y = F.grid_sample(t(x), t(grid), mode, padding, corners)
                case(f"grid {mode} {padding} {corners}", "GridSampleLayer",
                     [rank5(x), rank5(np.transpose(grid, (0, 3, 1, 2)))], [rank5(y)],
                     {"mode": ["bilinear", "nearest"].index(mode),
                      "padding_mode": ["zeros", "border", "reflection"].index(padding),
                      "align_corners": corners})

    small = array(1, 2, 4, 5)
    for factor in (2.0, 0.5, 1.7):
        y = F.interpolate(t(small), scale_factor=factor, mode="bicubic", align_corners=False,
                          recompute_scale_factor=True)
        case(f"OpenPose's resizing by {factor}", "ImResize", [rank5(small)], [rank5(y)],
             {"factor": factor})

    maps = array(2, 8, 9, 11)
    regions = np.float32([[0, 0, 0, 40, 30], [1, 9.6, 4.2, 30.1, 35.8], [1, 20, 20, 20, 20],
                          [0, -7, 5, 90, 18]])
    for layer, function, parameters in [
        ("ROIPooling", torchvision.ops.roi_pool, {}),
        ("ROIAlign", torchvision.ops.roi_align, {}),
        ("ROIAlign", torchvision.ops.roi_align, {"sampling_ratio": 2, "aligned": True}),
    ]:
        y = function(t(maps), t(regions), (3, 2), 0.25, **parameters)
        case(f"regions {parameters}", layer, [rank5(maps), regions[None, :, :, None, None]],
             [rank5(y)], {"pooled_h": 3, "pooled_w": 2, "spatial_scale": 0.25, **parameters})
    # Caffe's formula: corners rounded before they are scaled, the last place included.
    y = np.zeros((4, 2, 2, 2))
    for r, (index, *corners) in enumerate(regions):
        x1, y1, x2, y2 = np.floor(np.float64(corners) + 0.5)
        left, top, right, bottom = x1 * 0.25, y1 * 0.25, (x2 + 1) * 0.25, (y2 + 1) * 0.25
        height, width = max(bottom - top, 0.1) / 2, max(right - left, 0.1) / 2
        for c, i, j in np.ndindex(2, 2, 2):
            rows = slice(*np.clip([int(np.floor(i * height + top)),
                                   int(np.ceil((i + 1) * height + top))], 0, 9))
            columns = slice(*np.clip([int(np.floor(j * width + left)),
                                      int(np.ceil((j + 1) * width + left))], 0, 11))
            window = maps[int(index), c * 4 + i * 2 + j, rows, columns]
            y[r, c, i, j] = window.mean() if window.size else 0
    case("regions by position", "PSROIPooling", [rank5(maps), regions[None, :, :, None, None]],
         [rank5(y)], {"group_size": 2, "output_dim": 2, "spatial_scale": 0.25})

    image = array(2, 4, 6, 7)
    for name, outputs, kernel, stride, pad, dilation, groups, deformable, masked in [
        ("plain", 3, (3, 3), (1, 1), (1, 1), (1, 1), 1, 1, False),
        ("masked", 4, (3, 2), (2, 1), (1, 0), (1, 2), 2, 2, True),
    ]:
        weight = array(outputs, 4 // groups, *kernel, scale=0.5)
        bias = array(outputs)
        rows = (6 + 2 * pad[0] - dilation[0] * (kernel[0] - 1) - 1) // stride[0] + 1
        columns = (7 + 2 * pad[1] - dilation[1] * (kernel[1] - 1) - 1) // stride[1] + 1
        taps = deformable * kernel[0] * kernel[1]
        offset = array(2, 2 * taps, rows, columns, scale=1.5)
        mask = random.uniform(size=(2, taps, rows, columns)).astype(np.float32)
        y = torchvision.ops.deform_conv2d(
            t(image), t(offset), t(weight), t(bias), stride, pad, dilation,
            t(mask) if masked else None)
        case(f"deformed, {name}", "DeformableConvolution",
             [rank5(a) for a in ([image, offset, mask] if masked else [image, offset])],
             [rank5(y)],
             {"kernel_h": kernel[0], "kernel_w": kernel[1], "stride_h": stride[0],
              "stride_w": stride[1], "pad_h": pad[0], "pad_w": pad[1], "dilation_h": dilation[0],
              "dilation_w": dilation[1], "groups": groups, "deformable_groups": deformable},
             [weight, bias])

    # The columns of a deformable convolution: one output for each element of the kernel.
    one = array(1, 3, 8, 8)
    offset, mask = array(1, 18, 6, 6), random.uniform(size=(1, 9, 6, 6)).astype(np.float32)
    y = torchvision.ops.deform_conv2d(
        t(one), t(offset), torch.eye(27).reshape(27, 3, 3, 3), mask=t(mask))
    case("deformed columns", "dneprDroid_deform_conv2d", [one], [np.asarray(y)[None]],
         {"outShape": "[1, 1, 27, 6, 6]", "offsetShape": "[1, 1, 18, 6, 6]",
          "maskShape": "[1, 1, 9, 6, 6]", "inChannels": 3, "height": 8, "width": 8, "weightH": 3,
          "weightW": 3, "padH": 0, "padW": 0, "strideH": 1, "strideW": 1, "dilationH": 1,
          "dilationW": 1, "outH": 6, "outW": 6, "parallelImgs": 1, "deformableGroup": 1,
          "useMask": True}, [offset, mask])
    a, b = array(1, 1, 1, 27), array(1, 1, 27, 36)
    case("row by matrix", "dneprDroid_addmm", [a, b], [t(a) @ t(b)])

    for name, shape in [("wide", (2, 4, 3, 5)), ("tall", (3, 6, 4)), ("square", (4, 4))]:
        a = array(*shape)
        if name == "tall":
            a[1, :, 2] = 2 * a[1, :, 0]  # of rank 3
        b = array(*shape[:-1])
        solution, _, rank, values = torch.linalg.lstsq(
            t(a).double(), t(b).double()[..., None], driver="gelsd")
        batches = list(shape[:-2])
        padded = np.zeros(batches + [shape[-2]], np.float32)
        padded[..., :values.shape[-1]] = values
        case(f"least squares, {name}", "dneprDroid_lstsq", [np.swapaxes(a, -1, -2), b],
             [solution[..., 0], np.zeros(batches or [1]), np.reshape(rank, batches or [1]), padded],
             {"driver": "gelsd"})

    x = array(2, 6, 4, 5)
    for source, a, b, high, low in [(1, 2, 3, 1, 3), (1, 2, 3, 3, 1), (2, -1, 2, 1, 2), (3, 5, 1, 3, 0)]:
        split = t(x).reshape(x.shape[:source] + (a, b) + x.shape[source + 1:])
        # The part that leaves its axis: the first one, to `high`, or the second one, to `low`.
        moved, target = (source, high) if high != source else (source + 1, low)
        moved_axes = torch.movedim(split, moved, target)
        sizes = list(moved_axes.shape)
        y = moved_axes.reshape(sizes[:target] + [sizes[target] * sizes[target + 1]] + sizes[target + 2:])
        case(f"kraken's reshape {source} {a} {b} {high} {low}", "reshape", [rank5(x)], [rank5(y)],
             {"src_dim": source, "part_a": a, "part_b": b, "high": high, "low": low})
    for axis, chunk in [(1, 2), (3, 5), (2, 2)]:
        parts = t(x).unfold(axis, chunk, chunk)
        y = parts.sum(axis, keepdim=True).transpose(-1, axis).squeeze(-1)
        case(f"kraken's addition {axis} {chunk}", "addition", [rank5(x)], [rank5(y)],
             {"dim": axis, "chunk_size": chunk})
    case("kraken's dropout", "dropout", [rank5(x)], [F.dropout(t(x), 0.3, False)[None]],
         {"p": 0.3, "dim": 2})


def numpy_cases():
    """What only Caffe's Python layers have, by the algorithm in ../caffe/layers/regions.py."""
    sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../caffe/layers"))
    import regions

    usual = regions.anchors()
    few = regions.anchors(base=8, ratios=(0.5, 1.5), scales=(1, 2.5))
    for name, anchors, info, parameters, options in [
        ("of py-faster-rcnn", usual, [[96, 130, 1.0]], {}, {}),
        ("of a scaled image", usual, [[90, 120, 1.5]], {"post_nms_topn": 25},
         dict(count=25)),
        ("with small ones", few, [[96, 130, 1.2, 1.2, 1, 1]],
         {"base_size": 8, "ratios": "0.5,1.5", "scales": "1, 2.5", "min_size": 12,
          "pre_nms_topn": 40, "post_nms_topn": 12, "nms_thresh": 0.5, "keeps_small": True,
          "has_scores": True, "feat_stride": 8},
         dict(least=12, candidates=40, count=12, limit=0.5, keeps_small=True, stride=8)),
    ]:
        count = len(anchors)
        scores = random.uniform(size=(1, 2 * count, 6, 8)).astype(np.float32)
        offsets = array(1, 4 * count, 6, 8, scale=0.4)
        info = np.float32(info)
        rows, values = regions.proposals(
            np.float64(scores), np.float64(offsets), np.float64(info),
            sizes=anchors, **dict(dict(stride=16), **options))
        single, _ = regions.proposals(
            scores, offsets, info, sizes=np.float32(anchors), **dict(dict(stride=16), **options))
        assert np.abs(single - rows).max() < 1e-3, "the choice of regions depends on rounding"
        outputs = [rows[None, :, :, None, None], values[None]]
        case(f"regions {name}", "Proposal",
             [rank5(scores), rank5(offsets), info[None, :, :, None, None]],
             outputs if "has_scores" in parameters else outputs[:1], parameters)


if __name__ == "__main__":
    framework = sys.argv[1]
    {"tensorflow": tensorflow_cases, "torch": torch_cases, "numpy": numpy_cases}[framework]()
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), framework + ".json")
    with open(path, "w") as file:
        file.write("[\n" + ",\n".join(json.dumps(c) for c in CASES) + "\n]\n")
    print(len(CASES), "cases,", os.path.getsize(path), "bytes")
