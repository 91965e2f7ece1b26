#!/usr/bin/env python3
"""vision.py opencv|keras|coremltools — writes small detectors with random weights, an image, and their boxes
into vision/. `opencv` needs OpenCV 4 and numpy, `keras` TensorFlow, tf_keras and numpy, `coremltools`
coremltools 9 and numpy.

OpenCV runs the Darknet and Caffe networks and decodes YOLO v4's boxes; Keras runs the others. The other
decoding and the suppression are in NumPy, here: of each candidate its best class, of each
class the best box, without those that overlap it by more than 0.45. expected.json has, for each network,
rows of class, score, x, y, width, height, in pixels of the image, clipped to it, the best first.

`coremltools` writes pipelines layer by layer as other tools do, and computes their boxes in NumPy:
turi.mlmodel     Turi Create, apple/turicreate 022949af724a, src/toolkits/coreml_export/
                 neural_net_models_exporter.cpp (export_object_detector_model) and
                 src/toolkits/object_detection/od_yolo.cpp (add_yolo)
createml.mlmodel Create ML's full network: the same exporter, which takes the input's name, with `imagePath`
ultralytics.*    Ultralytics, ultralytics/ultralytics 10e7faf33d22, ultralytics/utils/export/coreml.py
                 (IOSDetectModel, pipeline_coreml): a network, and an ML Program, whose classes are padded to 80

rows.prototxt is written by hand: the largest red of each quarter is the score of a box there.
"""
import json, os, shutil, struct, sys, zlib
import numpy as np

os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "vision"))
SIDE = 64
random = np.random.default_rng(3 if sys.argv[1] == "opencv" else 4)


def pixels():
    y, x = np.mgrid[0:SIDE, 0:SIDE] / SIDE
    waves = [np.sin(9 * x + 3 * y), np.cos(11 * y - 2 * x), np.sin(14 * x * y + 1)]
    return ((np.stack(waves, 2) + 1) * 127).astype(np.uint8)


def png(image):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    rows = b"".join(b"\0" + row.tobytes() for row in image)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", SIDE, SIDE, 8, 2, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


with open("image.png", "wb") as file:
    file.write(png(pixels()))
expected = json.load(open("expected.json")) if os.path.exists("expected.json") else {}


def overlap(a, b):
    sides = [max(0, min(a[i] + a[i + 2] / 2, b[i] + b[i + 2] / 2) - max(a[i] - a[i + 2] / 2, b[i] - b[i + 2] / 2))
             for i in (0, 1)]
    common = sides[0] * sides[1]
    return common and common / (a[2] * a[3] + b[2] * b[3] - common)


def judge(name, boxes, scores, threshold):
    """boxes: center, size, in parts of the image; scores: a row for each box, without a background."""
    boxes, scores = boxes.astype(np.float64), scores.astype(np.float64)
    best = scores.argmax(1)
    order = [i for i in np.argsort(-scores.max(1), kind="stable") if scores[i, best[i]] > threshold]
    kept = []
    for i in order:
        if all(best[i] != best[j] or overlap(boxes[i], boxes[j]) <= 0.45 for j in kept):
            kept.append(i)
    rows = []
    for i in kept:
        x, y, w, h = boxes[i]
        left, right = [min(1, max(0, v)) * SIDE for v in (x - w / 2, x + w / 2)]
        top, bottom = [min(1, max(0, v)) * SIDE for v in (y - h / 2, y + h / 2)]
        if right > left and bottom > top:
            rows.append([int(best[i]), float(scores[i, best[i]]), left, top, right - left, bottom - top])
    several = ((scores > threshold).sum(1) > 1).sum()
    print(f"{name}: {len(order)} candidates above {threshold}, {several} with several classes, {len(rows)} kept")
    expected[name] = {"threshold": threshold, "boxes": [[round(v, 7) for v in row] for row in rows]}


def opencv():
    import cv2
    conv = "[convolutional]\nfilters={}\nsize={}\nstride={}\npad=1\nactivation={}\n\n"
    head = f"[net]\nbatch=1\nwidth={SIDE}\nheight={SIDE}\nchannels=3\n\n"
    yolo2 = (head + conv.format(8, 3, 8, "leaky") + conv.format(24, 1, 1, "linear")
             + "[region]\nanchors=1,2, 3,1.5, 2,4\nclasses=3\nnum=3\nsoftmax=1\n")
    anchors = "anchors=8,10, 14,12, 30,20, 26,44\nclasses=3\nnum=4\n"
    yolo4 = (head + conv.format(8, 3, 8, "leaky") + conv.format(16, 1, 1, "linear")
             + f"[yolo]\nmask=0,1\nscale_x_y=1.1\n{anchors}\n[route]\nlayers=-3\n\n"
             + conv.format(8, 3, 2, "leaky") + conv.format(16, 1, 1, "linear")
             + f"[yolo]\nmask=2,3\nscale_x_y=1.05\n{anchors}")
    layers = {"yolov2": [(8, 3, 3), (24, 8, 1)], "yolov4": [(8, 3, 3), (16, 8, 1), (8, 8, 3), (16, 8, 1)]}
    input = cv2.dnn.blobFromImage(pixels(), 1 / 255)
    for name, text in (("yolov2", yolo2), ("yolov4", yolo4)):
        with open(name + ".cfg", "w") as file:
            file.write(text)
        with open(name + ".weights", "wb") as file:
            file.write(np.array([0, 2, 0], "<i4").tobytes() + np.array([0], "<i8").tobytes())
            for outputs, inputs, size in layers[name]:
                bias = random.normal(0, 0.3, outputs)
                kernel = random.normal(0, (1.6 if size == 3 else 1.1) / np.sqrt(inputs * size * size) * 1.6,
                                       (outputs, inputs, size, size))
                file.write(np.concatenate([bias, kernel.ravel()]).astype("<f4").tobytes())
        net = cv2.dnn.readNetFromDarknet(name + ".cfg", name + ".weights")
        net.setInput(input)
        if name == "yolov4":
            rows = np.concatenate([r.reshape(-1, 8) for r in net.forward(net.getUnconnectedOutLayersNames())])
            # OpenCV sets scores below a threshold of 0.2 to 0.
            judge(name, rows[:, :4], rows[:, 5:], 0.4)
            continue
        # OpenCV's Region suppresses, too, before a candidate has its best class.
        grid = net.forward("conv_1")[0].astype(np.float64).reshape(3, 8, 8, 8).transpose(2, 3, 0, 1)
        judge(name, *cells(grid, np.array([[1, 2], [3, 1.5], [2, 4]]) / 8, isSoftmax=True), 0.55)

    # The functions of protobuf's wire format.
    source = open("../../caffe/make.py").read()
    names = {"struct": struct, "np": np}
    exec(source[source.index("def varint"):source.index("def double")], names)
    ssd = f"""name: "ssd"
input: "data" input_shape {{ dim: 1 dim: 3 dim: {SIDE} dim: {SIDE} }}
layer {{ name: "body" type: "Convolution" bottom: "data" top: "body"
  convolution_param {{ num_output: 8 kernel_size: 8 stride: 8 }} }}
layer {{ name: "relu" type: "ReLU" bottom: "body" top: "body" }}
layer {{ name: "loc" type: "Convolution" bottom: "body" top: "loc" convolution_param {{ num_output: 12 kernel_size: 1 }} }}
layer {{ name: "loc_perm" type: "Permute" bottom: "loc" top: "loc_perm"
  permute_param {{ order: 0 order: 2 order: 3 order: 1 }} }}
layer {{ name: "mbox_loc" type: "Flatten" bottom: "loc_perm" top: "mbox_loc" }}
layer {{ name: "conf" type: "Convolution" bottom: "body" top: "conf" convolution_param {{ num_output: 12 kernel_size: 1 }} }}
layer {{ name: "conf_perm" type: "Permute" bottom: "conf" top: "conf_perm"
  permute_param {{ order: 0 order: 2 order: 3 order: 1 }} }}
layer {{ name: "conf_rows" type: "Reshape" bottom: "conf_perm" top: "conf_rows"
  reshape_param {{ shape {{ dim: 0 dim: -1 dim: 4 }} }} }}
layer {{ name: "conf_softmax" type: "Softmax" bottom: "conf_rows" top: "conf_softmax" softmax_param {{ axis: 2 }} }}
layer {{ name: "mbox_conf" type: "Flatten" bottom: "conf_softmax" top: "mbox_conf" }}
layer {{ name: "mbox_priorbox" type: "PriorBox" bottom: "body" bottom: "data" top: "mbox_priorbox"
  prior_box_param {{ min_size: 12 aspect_ratio: 2 clip: false variance: 0.1 variance: 0.1 variance: 0.2 variance: 0.2 }} }}
"""
    with open("ssd.prototxt", "w") as file:
        file.write(ssd)
    with open("ssd.caffemodel", "wb") as file:
        file.write(names["delimited"](1, "ssd"))
        for name, outputs, inputs, size in (("body", 8, 3, 8), ("loc", 12, 8, 1), ("conf", 12, 8, 1)):
            kernel = random.normal(0, 2.5 / np.sqrt(inputs * size * size), (outputs, inputs, size, size))
            blobs = [kernel.astype(np.float32), random.normal(0, 0.3, outputs).astype(np.float32)]
            file.write(names["delimited"](100, names["delimited"](1, name) + names["delimited"](2, "Convolution")
                + b"".join(names["delimited"](7, names["single"](blob)) for blob in blobs)))
    net = cv2.dnn.readNetFromCaffe("ssd.prototxt", "ssd.caffemodel")
    net.setInput(input)
    loc, conf, prior = net.forward(["mbox_loc", "mbox_conf", "mbox_priorbox"])
    box, variance = prior.reshape(2, -1, 4).astype(np.float64)
    judge("ssd", centers(box, loc.reshape(-1, 4), variance), conf.reshape(-1, 4)[:, 1:], 0.85)


def cells(grid, anchors, isSoftmax=False):
    """The boxes and scores of a grid [rows, columns, boxes, 5 + classes]; anchors in parts of the image."""
    sigmoid = lambda v: 1 / (1 + np.exp(-v))
    rows, columns = grid.shape[:2]
    j, i = np.mgrid[0:rows, 0:columns]
    center = (sigmoid(grid[..., :2]) + np.stack([i, j], 2)[:, :, None]) / [columns, rows]
    classes = np.exp(grid[..., 5:])
    classes = classes / classes.sum(-1, keepdims=True) if isSoftmax else sigmoid(grid[..., 5:])
    boxes = np.concatenate([center, np.exp(grid[..., 2:4]) * anchors], 3)
    return boxes.reshape(-1, 4), (sigmoid(grid[..., 4:5]) * classes).reshape(-1, grid.shape[-1] - 5)


def centers(box, offset, variance):
    center, size = (box[:, :2] + box[:, 2:]) / 2, box[:, 2:] - box[:, :2]
    return np.concatenate([center + variance[:, :2] * offset[:, :2] * size,
                           size * np.exp(variance[:, 2:] * offset[:, 2:])], 1)


def keras():
    import tensorflow as tf
    import tf_keras as keras
    keras.utils.set_random_seed(5)
    L = keras.layers
    image = lambda: keras.Input((SIDE, SIDE, 3), name="image")
    spread = lambda s: keras.initializers.RandomNormal(0, s)
    x = pixels()[None].astype(np.float32) / 255

    def conv(x, filters, size, stride, s, **more):
        return L.Conv2D(filters, size, stride, "same", kernel_initializer=spread(s),
                        bias_initializer=spread(0.3), **more)(x)

    def save(name, input, outputs):
        model = keras.Model(input, outputs)
        model.save(name + ".h5")
        outputs = model.predict(x, verbose=0)
        return [o[0].astype(np.float64) for o in (outputs if isinstance(outputs, list) else [outputs])]

    # YOLO v3: the coarse grid first, as in keras-yolo3.
    input = image()
    body = conv(input, 8, 3, 8, 0.5, activation="relu")
    coarse = conv(conv(body, 8, 3, 2, 0.3, activation="relu"), 16, 1, 1, 1.0)
    grids = save("yolov3", input, [coarse, conv(body, 16, 1, 1, 1.0)])
    anchors = np.array([[8, 10], [14, 12], [30, 20], [26, 44]], float) / SIDE
    boxes, scores = [], []
    for grid, own in zip(grids, (anchors[2:], anchors[:2])):
        rows, columns = grid.shape[:2]
        found = cells(grid.reshape(rows, columns, 2, 8), own)
        boxes.append(found[0])
        scores.append(found[1])
    judge("yolov3", np.concatenate(boxes), np.concatenate(scores), 0.55)

    class AnchorBoxes(L.Layer):
        """As in ssd_keras: one row for each box, its center and size in parts of the image, and variances."""
        def __init__(self, **fields):
            super().__init__(name=fields.pop("name", None), trainable=False)
            self.fields = fields

        def get_config(self):
            return dict(super().get_config(), **self.fields)

        def call(self, x):
            f = self.fields
            rows, columns = x.shape[1:3]
            side = min(f["img_height"], f["img_width"])
            sizes = []
            for ratio in f["aspect_ratios"]:
                if ratio == 1:
                    sizes += [[f["this_scale"] * side] * 2, [np.sqrt(f["this_scale"] * f["next_scale"]) * side] * 2]
                else:
                    sizes.append([f["this_scale"] * side * np.sqrt(ratio), f["this_scale"] * side / np.sqrt(ratio)])
            table = np.zeros((rows, columns, len(sizes), 8), np.float32)
            for r in range(rows):
                for c in range(columns):
                    for n, (w, h) in enumerate(sizes):
                        table[r, c, n] = [(c + .5) / columns, (r + .5) / rows, w / SIDE, h / SIDE] + f["variances"]
            return tf.tile(tf.constant(table)[None], [tf.shape(x)[0], 1, 1, 1, 1])

    input = image()
    body = conv(input, 8, 3, 8, 0.5, activation="relu")
    parts = {"conf": [], "loc": [], "boxes": []}
    for level, x_ in enumerate([body, conv(body, 8, 3, 2, 0.3, activation="relu")]):
        parts["conf"].append(L.Reshape((-1, 4))(conv(x_, 12, 1, 1, 1.2)))
        loc = conv(x_, 12, 1, 1, 0.6)
        parts["loc"].append(L.Reshape((-1, 4))(loc))
        boxes = AnchorBoxes(
            img_height=SIDE, img_width=SIDE, this_scale=[.2, .4][level], next_scale=[.4, .6][level],
            aspect_ratios=[1.0, 2.0], two_boxes_for_ar1=True, clip_boxes=False,
            variances=[0.1, 0.1, 0.2, 0.2], coords="centroids", normalize_coords=True, name=f"anchors{level}")(loc)
        parts["boxes"].append(L.Reshape((-1, 8))(boxes))
    conf, loc, boxes = [L.Concatenate(axis=1)(parts[key]) for key in ("conf", "loc", "boxes")]
    rows, = save("ssd", input, L.Concatenate(axis=2)([L.Activation("softmax")(conf), loc, boxes]))
    prior = np.concatenate([rows[:, 8:10] - rows[:, 10:12] / 2, rows[:, 8:10] + rows[:, 10:12] / 2], 1)
    judge("ssd_keras", centers(prior, rows[:, 4:8], rows[:, 12:]), rows[:, 1:4], 0.8)
    os.replace("ssd.h5", "ssd_keras.h5")

    class Anchors(L.Layer):
        def __init__(self, size, stride, ratios, scales, **more):
            super().__init__(**more)
            self.fields = dict(size=size, stride=stride, ratios=ratios, scales=scales)

        def get_config(self):
            return dict(super().get_config(), **self.fields)

        def call(self, x):
            f, boxes = self.fields, []
            for r in range(x.shape[1]):
                for c in range(x.shape[2]):
                    for ratio in f["ratios"]:
                        for scale in f["scales"]:
                            w = f["size"] * scale / np.sqrt(ratio)
                            cx, cy = (c + .5) * f["stride"], (r + .5) * f["stride"]
                            boxes.append([cx - w / 2, cy - w * ratio / 2, cx + w / 2, cy + w * ratio / 2])
            return tf.tile(tf.constant(boxes, tf.float32)[None], [tf.shape(x)[0], 1, 1])

    class RegressBoxes(L.Layer):
        def get_config(self):
            return dict(super().get_config(), mean=[0, 0, 0, 0], std=[.2, .2, .2, .2])

        def call(self, inputs):
            boxes, offsets = inputs
            size = boxes[..., 2:] - boxes[..., :2]
            return boxes + offsets * .2 * tf.concat([size, size], -1)

    class ClipBoxes(L.Layer):
        def call(self, inputs):
            return tf.clip_by_value(inputs[1], 0, SIDE - 1)

    scales = [1, 2 ** (1 / 3), 2 ** (2 / 3)]
    for name in ("retinanet", "retinanet_offsets"):
        input = image()
        feature, features = input, []
        for level in range(3, 8):
            feature = conv(feature, 4, 3, 8 if level == 3 else 2, 0.6, activation="relu")
            features.append(feature)
        if name == "retinanet":
            features = features[:2]
        rows = lambda parts, width: L.Concatenate(axis=1, name={4: "regression", 2: "classification"}[width])(
            [L.Reshape((-1, width))(part) for part in parts])
        regression = rows([conv(f, 36, 1, 1, 0.5) for f in features], 4)
        classification = rows([conv(f, 18, 1, 1, 0.8, activation="sigmoid") for f in features], 2)
        if name == "retinanet":
            anchors = L.Concatenate(axis=1)([
                Anchors(size=16 << n, stride=8 << n, ratios=[.5, 1, 2], scales=scales)(f)
                for n, f in enumerate(features)])
            boxes = ClipBoxes()([input, RegressBoxes()([anchors, regression])])
            sides, scores = save(name, input, [boxes, classification])
        else:
            sides, scores = save(name, input, [regression, classification])
            table = np.concatenate([
                Anchors(4 << level, 1 << level, [.5, 1, 2], scales)(tf.zeros((1,) + f.shape[1:]))[0].numpy()
                for level, f in zip(range(3, 8), features)]).astype(np.float64)
            size = table[:, 2:] - table[:, :2]
            sides = table + .2 * sides * np.concatenate([size, size], 1)
        sides = sides / SIDE
        judge(name, np.concatenate([(sides[:, :2] + sides[:, 2:]) / 2, sides[:, 2:] - sides[:, :2]], 1), scores,
              0.9)


def pipelines():
    import coremltools as ct
    from coremltools.converters.mil import Builder as mb
    from coremltools.models.neural_network import NeuralNetworkBuilder
    labels = ["circle", "square", "triangle"]
    x = pixels().astype(np.float64) / 255
    patches = x.reshape(8, 8, 8, 8, 3).transpose(0, 2, 4, 1, 3).reshape(8, 8, 192)

    def weights(outputs, inputs, s):
        return random.normal(0, s / np.sqrt(inputs), (outputs, inputs)), random.normal(0, 0.3, outputs)

    def suppressed(network, image, names, confidence, coordinates, version):
        """The suppression that both tools add, and the pipeline of the two."""
        spec = ct.proto.Model_pb2.Model(specificationVersion=version)
        nms = spec.pipeline.models.add()
        nms.specificationVersion = version
        for feature in network.description.output:
            nms.description.input.add().CopyFrom(feature)
        for place, width in (("confidence", len(names)), ("coordinates", 4)):
            feature = nms.description.output.add(name=place)
            feature.type.multiArrayType.dataType = network.description.output[0].type.multiArrayType.dataType
            for lower, upper in ((0, -1), (width, width)):
                feature.type.multiArrayType.shapeRange.sizeRanges.add(lowerBound=lower, upperBound=upper)
        part = nms.nonMaximumSuppression
        part.confidenceInputFeatureName, part.coordinatesInputFeatureName = confidence, coordinates
        part.iouThresholdInputFeatureName, part.confidenceThresholdInputFeatureName = "iouThreshold", "confidenceThreshold"
        part.confidenceOutputFeatureName, part.coordinatesOutputFeatureName = "confidence", "coordinates"
        part.iouThreshold, part.confidenceThreshold = 0.45, THRESHOLD
        part.stringClassLabels.vector.extend(names)
        spec.pipeline.models.insert(0, network)
        spec.description.input.add().CopyFrom(network.description.input[0])
        spec.description.input[0].name = image
        for name in ("iouThreshold", "confidenceThreshold"):
            spec.description.input.add(name=name).type.doubleType.SetInParent()
        spec.description.output.extend(nms.description.output)
        return spec, spec.pipeline.models[1]

    THRESHOLD = 0.6
    body, body_bias = weights(8, 192, 2)
    head, head_bias = weights(24, 8, 1.6)
    hidden = patches @ body.T + body_bias
    anchors = np.array([[2, 3], [4, 2.5], [3, 5]])
    leaky = np.where(hidden > 0, hidden, 0.1 * hidden)
    grid = (leaky @ head.T + head_bias).reshape(8, 8, 3, 8)
    kernel = lambda w, size: w.reshape(len(w), -1, size, size).transpose(2, 3, 1, 0)
    for name, image in (("turi", "image"), ("createml", "imagePath")):
        judge(name, *cells(grid, anchors / 8, isSoftmax=True), THRESHOLD)
        b = NeuralNetworkBuilder(
            [(image, ct.models.datatypes.Array(3, SIDE, SIDE))],
            [("raw_confidence", None), ("raw_coordinates", None)], disable_rank5_shape_mapping=False)
        b.add_scale("_divscalar0", np.array([1 / 255]), 0, False, image, "_divscalar0", [1])
        b.add_convolution("conv0_fwd", 3, 8, 8, 8, 8, 8, "valid", 1, kernel(body, 8), body_bias, True,
                          input_name="_divscalar0", output_name="conv0_fwd")
        b.add_activation("leakyrelu0_fwd", "LEAKYRELU", "conv0_fwd", "leakyrelu0_fwd", [0.1])
        b.add_convolution("conv8_fwd", 8, 24, 1, 1, 1, 1, "same", 1, kernel(head, 1), head_bias, True,
                          input_name="leakyrelu0_fwd", output_name="conv8_fwd")
        reshape = lambda name, source, shape: b.add_reshape(name, source, name, shape, 0)
        part = lambda name, source, first, last: b.add_slice(name, source, name, "channel", first, last, 1)
        reshape("ymap_sp_pre", "conv8_fwd", [1, 3, 8, 64])
        b.add_permute("ymap_sp", [0, 2, 1, 3], "ymap_sp_pre", "ymap_sp")
        part("raw_rel_xy_sp", "ymap_sp", 0, 2)
        b.add_activation("rel_xy_sp", "SIGMOID", "raw_rel_xy_sp", "rel_xy_sp")
        reshape("rel_xy", "rel_xy_sp", [1, 2, 192, 1])
        j, i = np.mgrid[0:8, 0:8]
        b.add_load_constant("constant_xy", "constant_xy",
                            np.concatenate([np.tile(i.ravel(), 3), np.tile(j.ravel(), 3)]).astype(float), [2, 192, 1])
        b.add_elementwise("xy", ["constant_xy", "rel_xy"], "xy", "ADD")
        part("raw_rel_wh_sp", "ymap_sp", 2, 4)
        b.add_unary("rel_wh_sp", "raw_rel_wh_sp", "rel_wh_sp", "exp")
        reshape("rel_wh", "rel_wh_sp", [1, 6, 8, 8])
        b.add_load_constant("c_anchors", "c_anchors", np.repeat(anchors.T.ravel(), 64), [6, 8, 8])
        b.add_elementwise("wh_pre", ["c_anchors", "rel_wh"], "wh_pre", "MULTIPLY")
        reshape("wh", "wh_pre", [1, 2, 192, 1])
        b.add_elementwise("boxes_out_transposed", ["xy", "wh"], "boxes_out_transposed", "CONCAT")
        b.add_permute("boxes_out", [0, 2, 1, 3], "boxes_out_transposed", "boxes_out")
        b.add_scale("raw_coordinates", np.full(768, 1 / 8), 0, False, "boxes_out", "raw_coordinates", [192, 4, 1])
        part("scores_sp", "ymap_sp", 5, 8)
        b.add_softmax("probs_sp", "scores_sp", "probs_sp")
        part("logit_conf_sp", "ymap_sp", 4, 5)
        b.add_activation("conf_sp", "SIGMOID", "logit_conf_sp", "conf_sp")
        b.add_elementwise("conf_tiled_sp", ["conf_sp"] * 3, "conf_tiled_sp", "CONCAT")
        b.add_elementwise("confprobs_sp", ["conf_tiled_sp", "probs_sp"], "confprobs_sp", "MULTIPLY")
        reshape("confprobs_transposed", "confprobs_sp", [1, 3, 192, 1])
        b.add_permute("raw_confidence", [0, 2, 1, 3], "confprobs_transposed", "raw_confidence")
        network = b.spec
        network.specificationVersion = 3
        feature = network.description.input[0].type.imageType
        feature.width = feature.height = SIDE
        feature.colorSpace = ct.proto.FeatureTypes_pb2.ImageFeatureType.RGB
        for feature, width in zip(network.description.output, (3, 4)):
            array = feature.type.multiArrayType
            array.dataType = ct.proto.FeatureTypes_pb2.ArrayFeatureType.DOUBLE
            array.shape[:] = [192, width]
            array.shapeRange.sizeRanges.add(lowerBound=0, upperBound=-1)
            array.shapeRange.sizeRanges.add(lowerBound=width, upperBound=width)
        spec, nms = suppressed(network, image, labels, "raw_confidence", "raw_coordinates", 3)
        for threshold in ("iouThreshold", "confidenceThreshold"):
            nms.description.input.add(name=threshold).type.doubleType.SetInParent()
        for feature in spec.description.input[1:]:
            feature.type.isOptional = True
        spec.description.metadata.userDefined["classes"] = ",".join(labels)
        ct.models.utils.save_spec(spec, name + ".mlmodel")

    # The head of YOLO v8 and later: of each side a distribution over 16 distances in cells.
    THRESHOLD = 0.6
    sides, sides_bias = weights(64, 8, 2.5)
    classes, classes_bias = weights(3, 8, 2)
    silu = hidden / (1 + np.exp(-hidden))
    bins = np.exp((silu @ sides.T + sides_bias).reshape(64, 4, 16))
    distance = (bins / bins.sum(2, keepdims=True)) @ np.arange(16)
    cell = np.stack(np.mgrid[0:8, 0:8][::-1], 2).reshape(64, 2) + 0.5
    boxes = np.concatenate([cell + (distance[:, 2:] - distance[:, :2]) / 2, distance[:, :2] + distance[:, 2:]], 1) / 8
    scores = 1 / (1 + np.exp(-(silu @ classes.T + classes_bias).reshape(64, 3)))
    single = lambda w: w.astype(np.float32)
    for name, kind in (("ultralytics", "neuralnetwork"), ("ultralytics_program", "mlprogram")):
        judge(name, boxes, scores, THRESHOLD)

        @mb.program(input_specs=[mb.TensorSpec((1, 3, SIDE, SIDE))])
        def network(image):
            y = mb.silu(x=mb.conv(x=image, weight=single(body.reshape(8, 3, 8, 8)), bias=single(body_bias), strides=[8, 8]))
            distances = mb.conv(x=y, weight=single(sides[:, :, None, None]), bias=single(sides_bias))
            logits = mb.conv(x=y, weight=single(classes[:, :, None, None]), bias=single(classes_bias))
            distances = mb.transpose(x=mb.reshape(x=distances, shape=[1, 4, 16, 64]), perm=[0, 2, 1, 3])
            distances = mb.conv(x=mb.softmax(x=distances, axis=1),
                                weight=np.arange(16, dtype=np.float32).reshape(1, 16, 1, 1))
            distances = mb.reshape(x=distances, shape=[1, 4, 64])
            low = mb.slice_by_size(x=distances, begin=[0, 0, 0], size=[1, 2, 64])
            high = mb.slice_by_size(x=distances, begin=[0, 2, 0], size=[1, 2, 64])
            low = mb.sub(x=single(cell.T[None]), y=low)
            high = mb.add(x=single(cell.T[None]), y=high)
            center = mb.real_div(x=mb.add(x=low, y=high), y=np.float32(2))
            xywh = mb.mul(x=mb.concat(values=[center, mb.sub(x=high, y=low)], axis=1), y=np.float32(8))
            rows = mb.concat(values=[xywh, mb.sigmoid(x=mb.reshape(x=logits, shape=[1, 3, 64]))], axis=1)
            rows = mb.transpose(x=mb.squeeze(x=rows, axes=[0]), perm=[1, 0])
            xywh, cls = mb.split(x=rows, split_sizes=[4, 3], axis=1)
            if kind == "mlprogram":
                cls = mb.pad(x=cls, pad=[0, 0, 0, 77], mode="constant", constant_val=np.float32(0))
            return mb.identity(x=cls, name="var_90"), mb.mul(x=xywh, y=np.float32(1 / SIDE), name="var_92")

        model = ct.convert(network, convert_to=kind, skip_model_load=True,
                           inputs=[ct.ImageType("image", (1, 3, SIDE, SIDE), scale=1 / 255)])
        network = model.get_spec()
        # As in earlier versions of Ultralytics, for arrays of single precision.
        network.specificationVersion = max(5, network.specificationVersion)
        if kind == "neuralnetwork":
            for feature, width in zip(network.description.output, (3, 4)):
                feature.type.multiArrayType.shape[:] = [64, width]
        names = labels if kind == "neuralnetwork" else labels + [str(i) for i in range(3, 80)]
        spec, nms = suppressed(network, "image", names, "var_90", "var_92", network.specificationVersion)
        nms.nonMaximumSuppression.pickTop.perClass = True
        spec.description.metadata.userDefined["names"] = str(dict(enumerate(labels)))
        if kind == "neuralnetwork":
            ct.models.utils.save_spec(spec, name + ".mlmodel")
        else:
            shutil.rmtree(name + ".mlpackage", ignore_errors=True)
            ct.models.MLModel(spec, weights_dir=model.weights_dir, skip_model_load=True).save(name + ".mlpackage")


{"opencv": opencv, "keras": keras, "coremltools": pipelines}[sys.argv[1]]()
with open("expected.json", "w") as file:
    lines = [f'"{name}": {json.dumps(case)}' for name, case in sorted(expected.items())]
    file.write("{" + ",\n".join(lines) + "}\n")
