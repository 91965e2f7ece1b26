"""Random objects and detections, and what pycocotools says of them.

Writes Fixtures/detection/coco_truth.json, coco_results.json and coco_expected.json:

    python3 -m venv venv && venv/bin/pip install pycocotools
    venv/bin/python Tests/Tools/coco_average_precision.py
"""

import json
import pathlib

import numpy as np
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

folder = pathlib.Path(__file__).parents[2] / "Fixtures" / "detection"
random = np.random.default_rng(7)
categories = [1, 3, 18, 44, 90]  # of the last one the truth has no object
images = [int(number) for number in random.choice(np.arange(1, 900), 12, replace=False)]


def rounded(values):
    return [round(float(value), 2) for value in values]


truth, results = [], []
for image in images:
    for category in categories[:4]:
        for _ in range(random.integers(0, 6)):
            # Sides from 4 to 250 pixels: small, medium and large objects.
            width, height = 4 * 2 ** random.uniform(0, 6, 2)
            box = rounded([random.uniform(0, 640 - width), random.uniform(0, 480 - height), width, height])
            crowd = int(random.uniform() < 0.12)
            truth.append(
                dict(id=len(truth) + 1, image_id=image, category_id=category, bbox=box, iscrowd=crowd,
                     area=round(box[2] * box[3] * random.uniform(0.5, 1), 2)))
            for _ in range(random.integers(0, 4 if not crowd else 8)):
                spread = 0.25 * random.uniform() * np.array([width, height, width, height])
                moved = np.array(box) + random.normal(size=4) * spread
                moved[2:] = np.maximum(moved[2:], 1)
                wrong = random.uniform() < 0.1
                results.append(
                    dict(image_id=image, category_id=int(random.choice(categories)) if wrong else category,
                         bbox=rounded(moved), score=round(float(random.uniform()), 2)))
    # Nothing is there. The last image has more of them than count.
    for _ in range(130 if image == images[-1] else random.integers(0, 10)):
        box = rounded([*random.uniform(0, 400, 2), *(4 * 2 ** random.uniform(0, 6, 2))])
        results.append(
            dict(image_id=image, category_id=3 if image == images[-1] else int(random.choice(categories)),
                 bbox=box, score=round(float(random.uniform()), 2)))

document = dict(
    images=[dict(id=image, width=640, height=480, file_name=f"{image:012d}.jpg") for image in images],
    categories=[dict(id=category, name=f"class {category}") for category in categories],
    annotations=truth)
(folder / "coco_truth.json").write_text(json.dumps(document))
(folder / "coco_results.json").write_text(json.dumps(results))

coco = COCO(str(folder / "coco_truth.json"))
evaluation = COCOeval(coco, coco.loadRes(str(folder / "coco_results.json")), "bbox")
evaluation.evaluate()
evaluation.accumulate()
evaluation.summarize()
precision = evaluation.eval["precision"]
each = {}
for index, category in enumerate(sorted(categories)):
    values = precision[:, :, index, 0, 2]
    values = values[values > -1]
    each[str(category)] = float(values.mean()) if values.size else -1
expected = dict(stats=[float(value) for value in evaluation.stats], classes=each)
(folder / "coco_expected.json").write_text(json.dumps(expected))
print(len(truth), "objects,", sum(t["iscrowd"] for t in truth), "crowds,", len(results), "detections")
