"""Predicts with `assay` on every image of a folder, spread over a Spark cluster.

usage: spark_predict.py MODEL FOLDER [--partitions N] [--assay PATH] [OPTION…]

Each partition runs one `assay run MODEL - --json`: the model is loaded once a partition, the images'
paths go in on standard input, a line of JSON an input comes back. MODEL, the images and `assay` must be
there under the same paths on every machine. Other options are handed to `assay run`.
"""

import argparse
import json
import os
import shlex
import sys

from pyspark.sql import SparkSession

parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
parser.add_argument("model")
parser.add_argument("folder")
parser.add_argument("--partitions", type=int, default=4)
parser.add_argument("--assay", default="assay")
arguments, options = parser.parse_known_args()

paths = sorted(
    os.path.join(folder, name)
    for folder, _, names in os.walk(arguments.folder)
    for name in names
    if not name.startswith(".")
)
command = [arguments.assay, "run", arguments.model, "-", "--json", "--quiet", "--threads", "1"]
spark = SparkSession.builder.appName("assay").getOrCreate()
lines = (
    spark.sparkContext.parallelize(paths, max(1, min(arguments.partitions, len(paths))))
    .pipe(shlex.join(command + options))
    .collect()
)
failed = 0
for line in lines:
    print(line)
    failed += "error" in json.loads(line)
spark.stop()
if failed:
    print(f"{failed} of {len(paths)} inputs could not be predicted", file=sys.stderr)
    sys.exit(2)
