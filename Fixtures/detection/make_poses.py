#!/usr/bin/env python3
"""make_poses.py — writes poses.npz beside it. Needs numpy.

Heat maps and part affinity fields of people whose parts are known, as Cao et al. (2017) define them, with
noise; and the people that the algorithm of that paper finds, written here without the decoder in Swift:
`NAME` is the output of a network, `NAME_people` has a row for each person, x, y and score of each part in
cells, NaN for one that is not there, and `NAME_truth` the places from which the maps were made.
"""
import os

import numpy as np

os.chdir(os.path.dirname(os.path.abspath(__file__)))
random = np.random.default_rng(3)

# The parts that each limb connects and its channel among the fields: OpenPose's `poseParameters.cpp`.
COCO = (18, [(1, 2), (1, 5), (2, 3), (3, 4), (5, 6), (6, 7), (1, 8), (8, 9), (9, 10), (1, 11), (11, 12),
             (12, 13), (1, 0), (0, 14), (14, 16), (0, 15), (15, 17), (2, 16), (5, 17)],
        [12, 20, 14, 16, 22, 24, 0, 2, 4, 6, 8, 10, 28, 30, 34, 32, 36, 18, 26], 17)
MPI = (15, [(0, 1), (1, 2), (2, 3), (3, 4), (1, 5), (5, 6), (6, 7), (1, 14), (14, 8), (8, 9), (9, 10),
            (14, 11), (11, 12), (12, 13)], list(range(0, 28, 2)), 14)
STANDING = np.array([
    [0, -9], [0, -6], [-3, -6], [-4, -2], [-5, 2], [3, -6], [4, -2], [5, 2], [-2, 2], [-2, 7], [-2, 12],
    [2, 2], [2, 7], [2, 12], [-1, -10], [1, -10], [-2, -9.5], [2, -9.5]], float)
STANDING_MPI = np.vstack([STANDING[[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13]], [[0, -2]]])


def maps(body, people, height, width):
    count, limbs, fields, _ = body
    y, x = np.mgrid[:height, :width].astype(float)
    result = np.zeros((count + 1 + 2 * len(limbs), height, width))
    for places in people:
        for part, (u, v) in enumerate(places):
            if np.isfinite(u):
                heat = np.exp(-((x - u) ** 2 + (y - v) ** 2) / 2)
                result[part] = np.maximum(result[part], heat)
        for (a, b), field in zip(limbs, fields):
            start, end = places[a], places[b]
            if not np.isfinite(start).all() or not np.isfinite(end).all():
                continue
            length = np.hypot(*(end - start))
            direction = (end - start) / length
            along = (x - start[0]) * direction[0] + (y - start[1]) * direction[1]
            across = np.abs((x - start[0]) * direction[1] - (y - start[1]) * direction[0])
            inside = (along > -1) & (along < length + 1) & (across < 1.2)
            result[count + 1 + field:count + 3 + field, inside] = direction[:, None]
    result[count] = 1 - result[:count].max(axis=0)
    # Half floats of few bits, which take little room.
    return (np.round((result + random.normal(0, 0.01, result.shape)) * 128) / 128).astype(np.float16)


def bilinear(plane, x, y):
    x, y = np.clip(x, 0, plane.shape[1] - 1), np.clip(y, 0, plane.shape[0] - 1)
    left, top = np.floor(x).astype(int), np.floor(y).astype(int)
    right, bottom = np.minimum(left + 1, plane.shape[1] - 1), np.minimum(top + 1, plane.shape[0] - 1)
    across, down = x - left, y - top
    return ((plane[top, left] * (1 - across) + plane[top, right] * across) * (1 - down)
            + (plane[bottom, left] * (1 - across) + plane[bottom, right] * across) * down)


def peaks(plane):
    padded = np.pad(plane, 1)
    middle, left, right = padded[1:-1, 1:-1], padded[1:-1, :-2], padded[1:-1, 2:]
    up, down = padded[:-2, 1:-1], padded[2:, 1:-1]
    rows, columns = np.nonzero((middle > 0.1) & (middle > left) & (middle > up) & (middle >= right)
                               & (middle >= down))
    shift = lambda a, b: ((b - a) / (2 * (2 * middle - a - b)))[rows, columns].clip(-0.5, 0.5)
    with np.errstate(all="ignore"):
        found = np.stack([columns + shift(left, right), rows + shift(up, down), middle[rows, columns]], 1)
    return found[np.argsort(-found[:, 2], kind="stable")]


def decode(body, planes):
    count, limbs, fields, sure = body
    planes = planes.astype(float)
    candidates = [peaks(planes[part]) for part in range(count)]
    people = []
    for number, ((a, b), field) in enumerate(zip(limbs, fields)):
        possible = []
        for i, start in enumerate(candidates[a]):
            for j, end in enumerate(candidates[b]):
                vector = end[:2] - start[:2]
                length = np.hypot(*vector)
                if length < 1e-6:
                    continue
                x, y = (np.linspace(start[k], end[k], 10) for k in (0, 1))
                values = sum(bilinear(planes[count + 1 + field + k], x, y) * vector[k] / length
                             for k in (0, 1))
                score = values.mean() + min(0.5 * planes.shape[1] / length - 1, 0)
                if (values > 0.05).sum() > 8 and score > 0:
                    possible.append((score, i, j))
        used = set()
        for score, i, j in sorted(possible, key=lambda item: -item[0]):
            if ("a", i) in used or ("b", j) in used:
                continue
            used |= {("a", i), ("b", j)}
            owners = [p for p in people if p["parts"].get(a) == i or p["parts"].get(b) == j]
            if len(owners) == 2:
                first, second = owners
                if not set(first["parts"]) & set(second["parts"]):
                    first["parts"] |= second["parts"]
                    first["total"] += second["total"] + score
                    people.remove(second)
                continue
            if not owners:
                if number >= sure and body is COCO:
                    continue
                people.append({"parts": {}, "total": 0.0})
                owners = people[-1:]
            person = owners[0]
            new = {part: k for part, k in ((a, i), (b, j)) if part not in person["parts"]}
            if new:
                person["parts"] |= new
                person["total"] += score + sum(candidates[part][k, 2] for part, k in new.items())
    rows = []
    for person in people:
        size = len(person["parts"])
        if size >= 4 and person["total"] / size >= 0.4:
            row = np.full((count, 3), np.nan)
            for part, k in person["parts"].items():
                row[part] = candidates[part][k]
            rows.append(row)
    return np.array(rows)


arrays = {}
for name, body, figure, people, height, width in [
        ("coco", COCO, STANDING, [(12.3, 14.2, 1.0), (27.6, 15.4, 0.9), (36.2, 13.1, 0.7)], 30, 44),
        ("mpi", MPI, STANDING_MPI, [(11.2, 13.7, 0.9), (24.4, 14.8, 1.0)], 30, 36)]:
    truth = np.array([figure * size + (x, y) for x, y, size in people])
    # Someone whose right arm nobody sees.
    truth[1, [3, 4]] = np.nan
    planes = maps(body, truth, height, width)
    found = decode(body, planes)
    assert len(found) == len(truth)
    for person in truth:
        near = min(found, key=lambda other: np.nansum((other[:, :2] - person) ** 2))
        assert (np.isnan(near[:, 0]) == np.isnan(person[:, 0])).all()
        assert np.nanmax(np.abs(near[:, :2] - person)) < 0.25, np.nanmax(np.abs(near[:, :2] - person))
    arrays[name], arrays[name + "_people"], arrays[name + "_truth"] = planes, found, truth
    print(name, planes.shape, len(found), "people")
np.savez_compressed("poses.npz", **{
    k: v if v.dtype == np.float16 else v.astype(np.float32) for k, v in arrays.items()})
