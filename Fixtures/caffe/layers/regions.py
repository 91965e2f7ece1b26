"""Two-stage detectors by their published algorithms, in NumPy: anchors, region proposals, poolings of
regions, and boxes. Written from the papers (Ren et al. 2015, Girshick 2015, Dai et al. 2016) and the
conventions of py-faster-rcnn: a region's last pixel belongs to it, so x2 - x1 + 1 is its width.
"""
import numpy as np


def anchors(base=16, ratios=(0.5, 1, 2), scales=(8, 16, 32)):
    rows = []
    for ratio in ratios:
        w = np.round(np.sqrt(base * base / ratio))
        h = np.round(w * ratio)
        for scale in scales:
            half = np.array([w * scale - 1, h * scale - 1]) / 2
            rows.append(np.concatenate([(base - 1) / 2 - half, (base - 1) / 2 + half]))
    return np.array(rows)


def moved(boxes, offsets):
    """Boxes (N, 4), moved and scaled by offsets (N, 4 * K)."""
    size = boxes[:, 2:] - boxes[:, :2] + 1
    middle = boxes[:, :2] + size / 2
    result = np.zeros_like(offsets)
    for k in range(0, offsets.shape[1], 4):
        center = offsets[:, k:k + 2] * size + middle
        half = np.exp(offsets[:, k + 2:k + 4]) * size / 2
        result[:, k:k + 4] = np.hstack([center - half, center + half])
    return result


def clipped(boxes, height, width):
    last = np.tile([width - 1, height - 1], boxes.shape[1] // 2)
    return np.maximum(np.minimum(boxes, last), 0)


def overlaps(box, boxes):
    low, high = np.maximum(box[:2], boxes[:, :2]), np.minimum(box[2:4], boxes[:, 2:4])
    common = np.prod(np.maximum(0, high - low + 1), axis=1)
    area = lambda b: np.prod(b[..., 2:4] - b[..., :2] + 1, axis=-1)
    return common / (area(box) + area(boxes) - common)


def survivors(boxes, limit):
    """Places of the boxes that remain, which are sorted by score."""
    rest, kept = np.arange(len(boxes)), []
    while len(rest):
        kept.append(rest[0])
        rest = rest[1:][overlaps(boxes[rest[0]], boxes[rest[1:]]) <= limit]
    return np.array(kept, int)


def proposals(scores, offsets, info, stride, sizes, candidates=6000, count=300, limit=0.7,
              least=16, keeps_small=False):
    """(count, 5) regions and (count, 1, 1, 1) scores; rows after the last region: -1, 0, 0, 0, 0."""
    number, (height, width) = len(sizes), scores.shape[2:]
    y, x = np.mgrid[:height, :width] * stride
    start = np.stack([x, y, x, y], -1).reshape(-1, 1, 4) + sizes
    boxes = moved(start.reshape(-1, 4), offsets[0].transpose(1, 2, 0).reshape(-1, 4))
    boxes = clipped(boxes, info[0, 0], info[0, 1])
    scores = scores[0, number:].transpose(1, 2, 0).ravel()
    sides = boxes[:, 2:] - boxes[:, :2] + 1
    large = (sides >= least * info[0, 2]).all(axis=1)
    if keeps_small:
        scores = np.where(large, scores, 0)
    else:
        boxes, scores = boxes[large], scores[large]
    order = np.argsort(-scores, kind="stable")[:candidates]
    order = order[survivors(boxes[order], limit)[:count]]
    rows, values = np.zeros((count, 5)), np.zeros((count, 1, 1, 1))
    rows[len(order):, 0] = -1
    rows[:len(order), 1:], values[:len(order), 0, 0, 0] = boxes[order], scores[order]
    return rows, values


def half_up(x):
    return np.sign(x) * np.floor(np.abs(x) + 0.5)


def windows(start, size, count, extent):
    for i in range(count):
        low = np.floor(start + i * size / count)
        high = np.ceil(start + (i + 1) * size / count)
        yield slice(int(np.clip(low, 0, extent)), int(np.clip(high, 0, extent)))


def maxima(x, regions, rows, columns, scale):
    """Fast R-CNN's pooling: corners rounded after scaling."""
    result = np.zeros((len(regions), x.shape[1], rows, columns))
    for r, region in enumerate(regions):
        x1, y1, x2, y2 = half_up(region[1:] * scale)
        for i, down in enumerate(windows(y1, max(y2 - y1 + 1, 1), rows, x.shape[2])):
            for j, across in enumerate(windows(x1, max(x2 - x1 + 1, 1), columns, x.shape[3])):
                part = x[max(0, int(region[0])), :, down, across]
                result[r, :, i, j] = part.max(axis=(1, 2)) if part[0].size else 0
    return result


def group_means(x, regions, group, scale):
    """R-FCN's pooling: corners rounded before scaling, each window of other channels."""
    channels = x.shape[1] // group ** 2
    result = np.zeros((len(regions), channels, group, group))
    for r, region in enumerate(regions):
        corners = half_up(region[1:])
        x1, y1 = corners[:2] * scale
        x2, y2 = (corners[2:] + 1) * scale
        for i, down in enumerate(windows(y1, max(y2 - y1, 0.1), group, x.shape[2])):
            for j, across in enumerate(windows(x1, max(x2 - x1, 0.1), group, x.shape[3])):
                part = x[max(0, int(region[0])), i * group + j::group ** 2, down, across]
                result[r, :, i, j] = part.mean(axis=(1, 2)) if part[0].size else 0
    return result


def found(regions, scores, offsets, info, threshold, limit=0.3):
    """Rows of class (0 is the first after the background), score, x1, y1, x2, y2 in pixels of the image
    before it was scaled, as py-faster-rcnn's im_detect and its demonstration find them."""
    true = regions[:, 0] >= 0
    boxes = clipped(moved(regions[true, 1:] / info[0, 2], offsets[true]),
                    info[0, 0] / info[0, 2], info[0, 1] / info[0, 2])
    rows = []
    for label in range(1, scores.shape[1]):
        at = 4 if offsets.shape[1] != 4 * scores.shape[1] else 4 * label
        order = np.argsort(-scores[true, label], kind="stable")
        own = boxes[order, at:at + 4]
        values = scores[true, label][order]
        for place in survivors(own, limit):
            if values[place] > threshold:
                rows.append([label - 1, values[place], *own[place]])
    return np.array(rows)
