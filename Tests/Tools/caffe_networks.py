#!/usr/bin/env python3
"""Well-known Caffe networks at full size with random weights, converted, run, and compared with OpenCV.

    caffe_networks.py ASSAY [NETWORK…] [--keep DIR]

Needs numpy and OpenCV 4 (opencv-python-headless<5; OpenCV 5 no longer reads Caffe). The networks are
written down from their published definitions: vgg16 (Simonyan and Zisserman 2014), googlenet (Szegedy
et al. 2014), squeezenet (1.1; Iandola et al. 2016), resnet50 (He et al. 2015), mobilenet_ssd (Howard
et al. 2017, Liu et al. 2016), segnet (Badrinarayanan et al. 2015). An output agrees where no element
is off by more than 1e-4 of the output's largest value. What OpenCV has not, SegNet's unpooling, is
converted and run only.
"""
import argparse
import os
import subprocess
import sys
import tempfile

import cv2
import numpy as np


def varint(value):
    out = b""
    while value >= 0x80:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def header(number, length):
    return varint(number << 3 | 2) + varint(length)


def text(number, value):
    return header(number, len(value)) + value.encode()


class Net:
    """A prototxt and the weights of its layers, written as they are added."""

    def __init__(self, name, shape, path):
        self.random = np.random.default_rng(0)
        self.lines = [f'name: "{name}"', 'input: "data"', "input_shape { "
                      + " ".join(f"dim: {n}" for n in shape) + " }"]
        self.channels = {"data": shape[1]}
        self.model = open(path + ".caffemodel", "wb")
        self.model.write(text(1, name))
        self.path = path

    def add(self, name, type, bottoms, top, fields="", blobs=(), channels=None):
        bottoms = [bottoms] if isinstance(bottoms, str) else bottoms
        tops = [top] if isinstance(top, str) else top
        self.lines.append(
            f'layer {{ name: "{name}" type: "{type}" '
            + " ".join(f'bottom: "{b}"' for b in bottoms) + " "
            + " ".join(f'top: "{t}"' for t in tops) + f" {fields} }}")
        for t in tops:
            self.channels[t] = channels if channels is not None else self.channels[bottoms[0]]
        if blobs:
            parts = [text(1, name) + text(2, type)]
            for blob in blobs:
                dims = b"".join(varint(n) for n in blob.shape)
                shape = header(7, len(header(1, len(dims)) + dims)) + header(1, len(dims)) + dims
                data = np.ascontiguousarray(blob, "<f4").tobytes()
                body = shape + header(5, len(data)) + data
                parts.append(header(7, len(body)) + body)
            layer = b"".join(parts)
            self.model.write(header(100, len(layer)) + layer)
        return tops[0]

    def normal(self, *shape, scale):
        return self.random.standard_normal(shape, dtype=np.float32) * np.float32(scale)

    def conv(self, name, bottom, outputs, kernel, stride=1, pad=0, group=1, bias=True, dilation=1):
        inputs = self.channels[bottom] // group
        blobs = [self.normal(outputs, inputs, kernel, kernel, scale=(2 / (inputs * kernel * kernel)) ** 0.5)]
        if bias:
            blobs.append(self.normal(outputs, scale=0.1))
        fields = f"num_output: {outputs} kernel_size: {kernel} stride: {stride} pad: {pad}"
        fields += f" group: {group}" if group > 1 else ""
        fields += f" dilation: {dilation}" if dilation > 1 else ""
        fields += "" if bias else " bias_term: false"
        return self.add(name, "Convolution", bottom, name, f"convolution_param {{ {fields} }}", blobs, outputs)

    def relu(self, blob):
        return self.add(blob + "_relu", "ReLU", blob, blob)

    def pool(self, name, bottom, kernel, stride=1, pad=0, kind="MAX"):
        fields = f"pool: {kind} kernel_size: {kernel} stride: {stride} pad: {pad}"
        return self.add(name, "Pooling", bottom, name, f"pooling_param {{ {fields} }}")

    def global_pool(self, name, bottom):
        return self.add(name, "Pooling", bottom, name, "pooling_param { pool: AVE global_pooling: true }")

    def batchnorm(self, blob):
        n = self.channels[blob]
        factor = np.float32([2.0])
        self.add(blob + "_bn", "BatchNorm", blob, blob, "batch_norm_param { use_global_stats: true }",
                 [self.normal(n, scale=0.1), np.abs(self.normal(n, scale=0.2)) + np.float32(1.5), factor])
        return self.add(blob + "_scale", "Scale", blob, blob, "scale_param { bias_term: true }",
                        [self.normal(n, scale=0.05) + np.float32(0.8), self.normal(n, scale=0.1)])

    def product(self, name, bottom, outputs, inputs):
        blobs = [self.normal(outputs, inputs, scale=(2 / inputs) ** 0.5), self.normal(outputs, scale=0.1)]
        return self.add(name, "InnerProduct", bottom, name, f"inner_product_param {{ num_output: {outputs} }}",
                        blobs, outputs)

    def softmax(self, bottom, name="prob"):
        # Random weights make sure of one class; what comes before says more.
        self.add("half", "Power", bottom, "half", "power_param { scale: 0.5 }")
        return self.add(name, "Softmax", bottom, name)

    def concat(self, name, bottoms, axis=1):
        return self.add(name, "Concat", bottoms, name, f"concat_param {{ axis: {axis} }}",
                        channels=sum(self.channels[b] for b in bottoms))

    def close(self):
        self.model.close()
        with open(self.path + ".prototxt", "w") as f:
            f.write("\n".join(self.lines) + "\n")


def vgg16(path):
    net = Net("VGG16", (1, 3, 224, 224), path)
    x = "data"
    for block, (count, width) in enumerate([(2, 64), (2, 128), (3, 256), (3, 512), (3, 512)], 1):
        for index in range(1, count + 1):
            x = net.relu(net.conv(f"conv{block}_{index}", x, width, 3, pad=1))
        x = net.pool(f"pool{block}", x, 2, 2)
    for name, outputs, inputs in (("fc6", 4096, 25088), ("fc7", 4096, 4096)):
        x = net.relu(net.product(name, x, outputs, inputs))
        net.add("drop" + name, "Dropout", x, x)
    net.softmax(net.product("fc8", x, 1000, 4096))
    net.close()
    return (1, 3, 224, 224), ["prob", "half"]


def googlenet(path):
    net = Net("GoogLeNet", (1, 3, 224, 224), path)
    lrn = "lrn_param { local_size: 5 alpha: 0.0001 beta: 0.75 }"
    x = net.relu(net.conv("conv1", "data", 64, 7, 2, 3))
    x = net.add("norm1", "LRN", net.pool("pool1", x, 3, 2), "norm1", lrn)
    x = net.relu(net.conv("conv2_reduce", x, 64, 1))
    x = net.relu(net.conv("conv2", x, 192, 3, pad=1))
    x = net.pool("pool2", net.add("norm2", "LRN", x, "norm2", lrn), 3, 2)

    def inception(name, x, a, b, c, d, e, f):
        one = net.relu(net.conv(f"{name}/1x1", x, a, 1))
        three = net.relu(net.conv(f"{name}/3x3", net.relu(net.conv(f"{name}/3x3_reduce", x, b, 1)), c, 3, pad=1))
        five = net.relu(net.conv(f"{name}/5x5", net.relu(net.conv(f"{name}/5x5_reduce", x, d, 1)), e, 5, pad=2))
        pool = net.relu(net.conv(f"{name}/pool_proj", net.pool(f"{name}/pool", x, 3, 1, 1), f, 1))
        return net.concat(f"{name}/output", [one, three, five, pool])

    x = inception("3a", x, 64, 96, 128, 16, 32, 32)
    x = inception("3b", x, 128, 128, 192, 32, 96, 64)
    x = net.pool("pool3", x, 3, 2)
    x = inception("4a", x, 192, 96, 208, 16, 48, 64)
    x = inception("4b", x, 160, 112, 224, 24, 64, 64)
    x = inception("4c", x, 128, 128, 256, 24, 64, 64)
    x = inception("4d", x, 112, 144, 288, 32, 64, 64)
    x = inception("4e", x, 256, 160, 320, 32, 128, 128)
    x = net.pool("pool4", x, 3, 2)
    x = inception("5a", x, 256, 160, 320, 32, 128, 128)
    x = inception("5b", x, 384, 192, 384, 48, 128, 128)
    x = net.pool("pool5", x, 7, 1, kind="AVE")
    net.add("drop", "Dropout", x, x)
    net.softmax(net.product("classifier", x, 1000, 1024))
    net.close()
    return (1, 3, 224, 224), ["prob", "half"]


def squeezenet(path):
    net = Net("SqueezeNet 1.1", (1, 3, 227, 227), path)

    def fire(name, x, squeeze, expand):
        x = net.relu(net.conv(f"{name}/squeeze1x1", x, squeeze, 1))
        one = net.relu(net.conv(f"{name}/expand1x1", x, expand, 1))
        three = net.relu(net.conv(f"{name}/expand3x3", x, expand, 3, pad=1))
        return net.concat(f"{name}/concat", [one, three])

    x = net.pool("pool1", net.relu(net.conv("conv1", "data", 64, 3, 2)), 3, 2)
    x = fire("fire3", fire("fire2", x, 16, 64), 16, 64)
    x = net.pool("pool3", x, 3, 2)
    x = fire("fire5", fire("fire4", x, 32, 128), 32, 128)
    x = net.pool("pool5", x, 3, 2)
    x = fire("fire7", fire("fire6", x, 48, 192), 48, 192)
    x = fire("fire9", fire("fire8", x, 64, 256), 64, 256)
    net.add("drop9", "Dropout", x, x)
    net.softmax(net.global_pool("pool10", net.relu(net.conv("conv10", x, 1000, 1))))
    net.close()
    return (1, 3, 227, 227), ["prob", "half"]


def resnet50(path):
    net = Net("ResNet-50", (1, 3, 224, 224), path)

    def conv(name, x, outputs, kernel, stride=1, pad=0):
        return net.batchnorm(net.conv(name, x, outputs, kernel, stride, pad, bias=False))

    x = net.pool("pool1", net.relu(conv("conv1", "data", 64, 7, 2, 3)), 3, 2)
    for stage, (count, width) in enumerate([(3, 64), (4, 128), (6, 256), (3, 512)], 2):
        for index in range(count):
            name = f"res{stage}{chr(ord('a') + index)}"
            stride = 2 if index == 0 and stage > 2 else 1
            shortcut = conv(name + "_branch1", x, 4 * width, 1, stride) if index == 0 else x
            y = net.relu(conv(name + "_branch2a", x, width, 1, stride))
            y = net.relu(conv(name + "_branch2b", y, width, 3, 1, 1))
            y = conv(name + "_branch2c", y, 4 * width, 1)
            x = net.relu(net.add(name, "Eltwise", [shortcut, y], name))
    x = net.pool("pool5", x, 7, 1, kind="AVE")
    net.softmax(net.product("fc1000", x, 1000, 2048))
    net.close()
    return (1, 3, 224, 224), ["prob", "half"]


def mobilenet_ssd(path):
    net = Net("MobileNet-SSD", (1, 3, 300, 300), path)

    def separable(index, x, outputs, stride=1):
        n = net.channels[x]
        x = net.relu(net.batchnorm(net.conv(f"conv{index}/dw", x, n, 3, stride, 1, group=n, bias=False)))
        return net.relu(net.batchnorm(net.conv(f"conv{index}", x, outputs, 1, bias=False)))

    x = net.relu(net.batchnorm(net.conv("conv0", "data", 32, 3, 2, 1, bias=False)))
    sources = []
    for index, (outputs, stride) in enumerate(
            [(64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), (512, 1), (512, 1), (512, 1),
             (512, 1), (512, 1), (1024, 2), (1024, 1)], 1):
        x = separable(index, x, outputs, stride)
        if index in (11, 13):
            sources.append(x)
    for index, (reduced, outputs) in enumerate([(256, 512), (128, 256), (128, 256), (64, 128)], 14):
        x = net.relu(net.batchnorm(net.conv(f"conv{index}_1", x, reduced, 1, bias=False)))
        x = net.relu(net.batchnorm(net.conv(f"conv{index}_2", x, outputs, 3, 2, 1, bias=False)))
        sources.append(x)
    sizes = [(60, None), (105, 150), (150, 195), (195, 240), (240, 285), (285, 300)]
    locations, scores, priors = [], [], []
    for source, (least, greatest) in zip(sources, sizes):
        count = 3 if greatest is None else 6
        for kind, width, list in (("loc", 4, locations), ("conf", 21, scores)):
            name = f"{source}_mbox_{kind}"
            head = net.conv(name, source, count * width, 1)
            head = net.add(name + "_perm", "Permute", head, name + "_perm",
                           "permute_param { order: 0 order: 2 order: 3 order: 1 }")
            list.append(net.add(name + "_flat", "Flatten", head, name + "_flat", "flatten_param { axis: 1 }"))
        name = source + "_mbox_priorbox"
        fields = f"min_size: {least} aspect_ratio: 2.0"
        fields += f" max_size: {greatest} aspect_ratio: 3.0" if greatest else ""
        fields += " flip: true clip: false variance: 0.1 variance: 0.1 variance: 0.2 variance: 0.2 offset: 0.5"
        priors.append(net.add(name, "PriorBox", [source, "data"], name, f"prior_box_param {{ {fields} }}"))
    loc = net.concat("mbox_loc", locations)
    conf = net.concat("mbox_conf", scores)
    prior = net.concat("mbox_priorbox", priors, axis=2)
    conf = net.add("mbox_conf_reshape", "Reshape", conf, "mbox_conf_reshape",
                   "reshape_param { shape { dim: 0 dim: -1 dim: 21 } }")
    conf = net.add("mbox_conf_softmax", "Softmax", conf, "mbox_conf_softmax", "softmax_param { axis: 2 }")
    net.add("mbox_conf_flatten", "Flatten", conf, "mbox_conf_flatten", "flatten_param { axis: 1 }")
    net.close()
    return (1, 3, 300, 300), [loc, "mbox_conf_flatten", prior]


def segnet(path):
    net = Net("SegNet", (1, 3, 360, 480), path)

    def conv(name, x, outputs):
        n = outputs
        x = net.conv(name, x, outputs, 3, pad=1)
        x = net.add(name + "_bn", "BN", x, x, "bn_param { bn_mode: INFERENCE }",
                    [net.normal(1, n, 1, 1, scale=0.05) + np.float32(0.8), net.normal(1, n, 1, 1, scale=0.1)])
        return net.relu(x)

    x = "data"
    widths = [(2, 64), (2, 128), (3, 256), (3, 512), (3, 512)]
    for block, (count, width) in enumerate(widths, 1):
        for index in range(1, count + 1):
            x = conv(f"conv{block}_{index}", x, width)
        x = net.add(f"pool{block}", "Pooling", x, [f"pool{block}", f"pool{block}_mask"],
                    "pooling_param { pool: MAX kernel_size: 2 stride: 2 }")
    sizes = {5: (23, 30), 4: (45, 60)}
    for block in (5, 4, 3, 2, 1):
        count, width = widths[block - 1]
        fields = "scale: 2"
        if block in sizes:
            fields += " upsample_h: %d upsample_w: %d" % sizes[block]
        x = net.add(f"upsample{block}", "Upsample", [x, f"pool{block}_mask"], f"upsample{block}",
                    f"upsample_param {{ {fields} }}")
        for index in range(count, 0, -1):
            outputs = widths[max(block - 2, 0)][1] if index == 1 else width
            if block == 1 and index == 1:
                x = net.conv("conv1_1_D", x, 11, 3, pad=1)
            else:
                x = conv(f"conv{block}_{index}_D", x, outputs)
    net.softmax(x)
    net.close()
    return (1, 3, 360, 480), None


NETWORKS = [vgg16, googlenet, squeezenet, resnet50, mobilenet_ssd, segnet]


def check(assay, build, folder):
    path = os.path.join(folder, build.__name__)
    shape, outputs = build(path)
    model = path + ".mlmodel"
    subprocess.run([assay, "convert", path + ".prototxt", path + ".caffemodel", "-o", model, "--quiet"], check=True)
    picture = np.random.default_rng(1).uniform(-120, 130, shape).astype(np.float32)
    np.save(path + "_input.npy", picture)
    subprocess.run([assay, "run", model, path + "_input.npy", "-o", path + "_output.npz", "--quiet"],
                   check=True, stdout=subprocess.DEVNULL)
    found = np.load(path + "_output.npz")
    found = {name.replace("__SLASH__", "/"): found[name] for name in found.files}
    if outputs is None:
        ok = all(np.isfinite(value).all() for value in found.values())
        print(f"{build.__name__}: runs, outputs {', '.join(found)}" if ok else f"{build.__name__}: not finite")
        return ok
    net = cv2.dnn.readNetFromCaffe(path + ".prototxt", path + ".caffemodel")
    net.setInput(picture, "data")
    ok = True
    for name, expected in zip(outputs, net.forward(outputs)):
        ours = found[name]
        error = np.abs(ours.ravel() - expected.ravel()).max() / np.abs(expected).max()
        ok = ok and error <= 1e-4
        print(f"{build.__name__}: {name} {expected.shape}, off by {error:.1e} of the largest value")
    return ok


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("assay")
    parser.add_argument("networks", nargs="*")
    parser.add_argument("--keep", help="a folder for the files, which are removed otherwise")
    arguments = parser.parse_args()
    builds = [b for b in NETWORKS if not arguments.networks or b.__name__ in arguments.networks]
    ok = True
    for build in builds:
        with tempfile.TemporaryDirectory() as scratch:
            folder = arguments.keep or scratch
            os.makedirs(folder, exist_ok=True)
            ok = check(os.path.abspath(arguments.assay), build, folder) and ok
    return 0 if ok else 1


sys.exit(main())
