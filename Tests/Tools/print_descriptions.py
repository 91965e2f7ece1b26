#!/usr/bin/env python3
"""print_descriptions.py FILE.mlmodel...: a JSON object of each file's description as protobuf text.

Needs coremltools, for its message classes.
"""

import json
import sys

from coremltools.proto import Model_pb2
from google.protobuf import text_format


def main():
    result = {}
    for path in sys.argv[1:]:
        model = Model_pb2.Model()
        with open(path, "rb") as file:
            model.ParseFromString(file.read())
        result[path] = text_format.MessageToString(model.description)
    json.dump(result, sys.stdout)


main()
