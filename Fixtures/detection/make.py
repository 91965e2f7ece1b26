#!/usr/bin/env python3
"""make.py — writes detection.npz beside it. Needs numpy and OpenCV 4 with its Darknet importer.

Random grids go through OpenCV's own Region layers (a 1 × 1 convolution with the identity makes the
network of them), random offsets and scores through its PriorBox and DetectionOutput layers, random
boxes through its NMSBoxesBatched. Expected rows are: class, score, left, top, right, bottom, in parts
of the picture.
"""
import os
import tempfile

import cv2
import numpy as np

os.chdir(os.path.dirname(os.path.abspath(__file__)))
random = np.random.default_rng(11)
arrays = {}
ROWS, COLUMNS, SIDE = 3, 4, 32


def darknet(name, grid, head, threshold):
    """OpenCV's rows for a grid, those above the threshold."""
    _, channels, rows, columns = grid.shape
    configuration = f"""[net]
batch=1
width={columns}
height={rows}
channels={channels}

[convolutional]
filters={channels}
size=1
stride=1
pad=0
activation=linear

{head}
"""
    header = np.array([0, 2, 0], "<i4").tobytes() + np.array([0], "<i8").tobytes()
    weights = np.concatenate([np.zeros(channels), np.eye(channels).ravel()]).astype("<f4")
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/x.cfg", "w") as file:
            file.write(configuration)
        with open(f"{folder}/x.weights", "wb") as file:
            file.write(header + weights.tobytes())
        net = cv2.dnn.readNetFromDarknet(f"{folder}/x.cfg", f"{folder}/x.weights")
    net.setInput(grid)
    found = []
    for row in net.forward().reshape(-1, channels // ANCHORS[name]):
        x, y, width, height = row[:4].astype(float)
        for label, score in enumerate(row[5:]):
            if score > threshold:
                found.append([label, score, x - width / 2, y - height / 2, x + width / 2, y + height / 2])
    arrays[name] = grid
    arrays[name + "_expected"] = np.array(found, np.float64)
    print(name, len(found), "objects")


ANCHORS = {"region": 2, "region_logistic": 2, "yolo": 3, "yolo_scaled": 3, "yolo_new": 3}


def grid(boxes, classes, spread=1.5):
    return random.normal(0, spread, (1, boxes * (classes + 5), ROWS, COLUMNS)).astype(np.float32)


REGION = "[region]\nanchors=1.08,1.19, 3.42,4.41\nclasses=3\ncoords=4\nnum=2\nthresh=0.0001\n"
darknet("region", grid(2, 3), REGION + "softmax=1", 0.25)
YOLO = "[yolo]\nmask=1,2,3\nanchors=10,14, 23,27, 7,5, 31,18\nclasses=4\nnum=4\nthresh=0.0001\nnms_threshold=0\n"
# OpenCV takes a picture as large as the grid, so that anchors are in cells here.
darknet("yolo", grid(3, 4), YOLO, 0.25)
darknet("yolo_scaled", grid(3, 4), YOLO + "scale_x_y=1.2", 0.25)
new = 1 / (1 + np.exp(-grid(3, 4)))
darknet("yolo_new", new.astype(np.float32), YOLO + "scale_x_y=2.0\nnew_coords=1", 0.25)

# Boxes of three classes, and those that remain.
count = 80
corner = random.uniform(0, 0.6, (count, 2))
size = random.uniform(0.15, 0.5, (count, 2))
scores = random.uniform(0, 1, count)
labels = random.integers(0, 3, count)
kept = cv2.dnn.NMSBoxesBatched(
    np.concatenate([corner, size], 1).tolist(), scores.astype(np.float32).tolist(), labels.tolist(), 0.2, 0.4)
arrays["candidates"] = np.concatenate(
    [labels[:, None], scores.astype(np.float32)[:, None], corner, corner + size], 1)
arrays["kept"] = np.sort(np.array(kept).ravel()).astype(np.float64)
print("suppression:", count, "to", len(arrays["kept"]))

# SSD: two maps of places, three classes and a background.
PRIORS = [(4, 3, "min_size: 8 max_size: 12 aspect_ratio: 2 flip: true", 4), (2, 2, "min_size: 14", 1)]
CLASSES = 4
boxes = sum(w * h * n for w, h, _, n in PRIORS)
text = 'input: "loc" input_shape { dim: 1 dim: %d }\ninput: "conf" input_shape { dim: 1 dim: %d }\n' % (
    4 * boxes, CLASSES * boxes)
text += 'input: "data" input_shape { dim: 1 dim: 3 dim: %d dim: %d }\n' % (SIDE, SIDE)
for index, (width, height, parameters, _) in enumerate(PRIORS):
    text += 'input: "map%d" input_shape { dim: 1 dim: 1 dim: %d dim: %d }\n' % (index, height, width)
for index, (_, _, parameters, _) in enumerate(PRIORS):
    text += ('layer { name: "prior%d" type: "PriorBox" bottom: "map%d" bottom: "data" top: "prior%d"'
             " prior_box_param { %s clip: false variance: 0.1 variance: 0.1 variance: 0.2 variance: 0.2 } }\n"
             % (index, index, index, parameters))
text += ('layer { name: "priors" type: "Concat" bottom: "prior0" bottom: "prior1" top: "priors"'
         " concat_param { axis: 2 } }\n")
text += ('layer { name: "out" type: "DetectionOutput" bottom: "loc" bottom: "conf" bottom: "priors" top: "out"'
         " detection_output_param { num_classes: %d share_location: true background_label_id: 0"
         " code_type: CENTER_SIZE keep_top_k: 400 confidence_threshold: 0.3"
         " nms_param { nms_threshold: 0.45 top_k: 100 } } }\n" % CLASSES)
with tempfile.TemporaryDirectory() as folder:
    with open(f"{folder}/ssd.prototxt", "w") as file:
        file.write(text)
    net = cv2.dnn.readNetFromCaffe(f"{folder}/ssd.prototxt")
locations = random.normal(0, 1, (1, 4 * boxes)).astype(np.float32)
logits = random.normal(0, 1.5, (1, boxes, CLASSES))
confidences = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
confidences = confidences.astype(np.float32).reshape(1, -1)
net.setInput(locations, "loc")
net.setInput(confidences, "conf")
net.setInput(np.zeros((1, 3, SIDE, SIDE), np.float32), "data")
for index, (width, height, _, _) in enumerate(PRIORS):
    net.setInput(np.zeros((1, 1, height, width), np.float32), f"map{index}")
rows, priors = net.forward(["out", "priors"])
arrays["mbox_loc"] = locations
arrays["mbox_conf"] = confidences
arrays["mbox_priorbox"] = priors
arrays["rows"] = rows
print("SSD:", boxes, "boxes,", rows.shape, "rows")

np.savez_compressed("detection.npz", **arrays)
