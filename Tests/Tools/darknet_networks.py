"""Compares the published Darknet networks with an independent forward pass and with OpenCV.

    python3 Tests/Tools/darknet_networks.py .build/release/assay [--folder DIR] [NAME…]

Weights are drawn from a fixed seed and written to DIR (a temporary folder by default), with the
picture of 416 × 416 pixels that goes in. Each network is converted and run; what comes out is
compared with Fixtures/darknet/reference.py in double precision and with OpenCV 4's
readNetFromDarknet, where that is installed ("opencv-python-headless<5"). A difference above 1e-4 of
the largest value is a failure.
"""

import argparse
import os
import subprocess
import sys
import tempfile

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FIXTURES = os.path.join(ROOT, "Fixtures", "darknet")
sys.path.insert(0, FIXTURES)

from reference import Made, Network  # noqa: E402

try:
    import cv2
except ImportError:
    cv2 = None

# OpenCV's names of the convolutions whose outputs are the raw grids.
GRIDS = {
    "yolov2-tiny-voc": {"region_15": "conv_14"},
    "yolov3-tiny": {"yolo_16": "conv_15", "yolo_23": "conv_22"},
    "yolov4-tiny": {"yolo_30": "conv_29", "yolo_37": "conv_36"},
}
SHAPES = {
    "yolov2-tiny-voc": [(125, 13, 13)],
    "yolov3-tiny": [(255, 13, 13), (255, 26, 26)],
    "yolov4-tiny": [(255, 13, 13), (255, 26, 26)],
}
TOLERANCE = 1e-4


def difference(found, wanted):
    return np.abs(found.astype(np.float64) - wanted).max() / np.abs(wanted).max()


def check(assay, name, folder):
    cfg = os.path.join(FIXTURES, name + ".cfg")
    weights = os.path.join(folder, name + ".weights")
    model = os.path.join(folder, name + ".mlmodel")
    picture = os.path.join(folder, "picture.npy")
    answer = os.path.join(folder, name + ".npz")
    image = np.random.default_rng(416).integers(0, 256, (416, 416, 3), dtype=np.uint8)
    np.save(picture, image)
    with open(cfg) as file:
        text = file.read()
    made = Made(seed=20161225)
    # Red first, divided by 255.
    x = image.transpose(2, 0, 1) / 255
    wanted = Network(text, made).run(x)
    with open(weights, "wb") as file:
        file.write(made.data())
    subprocess.run(
        [assay, "convert", cfg, weights, "-o", model, "--image-input", "data"], check=True
    )
    subprocess.run(
        [assay, "run", model, picture, "-o", answer], check=True, stdout=subprocess.DEVNULL
    )
    found = {key: value.reshape(wanted[key].shape) for key, value in np.load(answer).items()}
    assert sorted(found) == sorted(wanted), (sorted(found), sorted(wanted))
    assert [wanted[key].shape for key in wanted] == SHAPES[name]
    rivals = {}
    if cv2 is not None:
        network = cv2.dnn.readNetFromDarknet(cfg, weights)
        network.setPreferableBackend(cv2.dnn.DNN_BACKEND_OPENCV)
        network.setInput(x[None].astype(np.float32))
        names = list(GRIDS[name])
        blobs = network.forward([GRIDS[name][key] for key in names])
        rivals = {key: blob[0] for key, blob in zip(names, blobs)}
    worst = 0
    for key, value in wanted.items():
        line = f"{name} {key} {value.shape}: largest {np.abs(value).max():.4g}"
        error = difference(found[key], value)
        line += f", from double precision {error:.2e}"
        worst = max(worst, error)
        if key in rivals:
            error = difference(found[key], rivals[key])
            line += f", from OpenCV {error:.2e}"
            line += f" (OpenCV from double precision {difference(rivals[key], value):.2e})"
            worst = max(worst, error)
        print(line, flush=True)
    return worst <= TOLERANCE


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("assay")
    parser.add_argument("--folder")
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    if cv2 is None:
        print("OpenCV is not installed: compared with the double-precision pass only")
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.folder or temporary
        os.makedirs(folder, exist_ok=True)
        results = [check(arguments.assay, name, folder) for name in arguments.names or GRIDS]
    print("match" if all(results) else "DIFFERENT")
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    main()
