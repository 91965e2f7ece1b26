#!/usr/bin/env python3
"""compare_messages.py LIST: each line of LIST names two .mlmodel files, separated by a tab.

Decodes both with protobuf and the classes of coremltools and compares the messages. Prints each
pair that differs; exit code 1 where there is one. Needs coremltools.
"""

import sys

from coremltools.proto import Model_pb2


def main():
    different = 0
    pairs = [line.rstrip("\n").split("\t") for line in open(sys.argv[1])]
    for first, second in pairs:
        messages = []
        for path in (first, second):
            message = Model_pb2.Model()
            with open(path, "rb") as file:
                message.ParseFromString(file.read())
            messages.append(message)
        if messages[0] != messages[1]:
            different += 1
            print("different:", first)
        # Unknown fields do not take part in the comparison of messages.
        if messages[0].ByteSize() != messages[1].ByteSize():
            different += 1
            print("another size:", first)
    print(len(pairs), "pairs compared")
    sys.exit(1 if different else 0)


main()
