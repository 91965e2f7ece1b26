"""Writes the JSON Schema of options files, from the argument parser's own description of the commands.

    assay --experimental-dump-help | python3 Tests/Tools/schema.py > docs/assay.schema.json
"""

import json
import sys


def values(argument):
    if argument["kind"] == "flag":
        return {"type": "boolean"}
    if argument.get("allValues") and not argument["isRepeating"]:
        return {"enum": argument["allValues"]}
    return {"$ref": "#/$defs/values" if argument["isRepeating"] else "#/$defs/value"}


def properties(command):
    found = {}
    for argument in command["arguments"]:
        names = [name["name"] for name in argument.get("names", []) if name["kind"] == "long"]
        if argument["shouldDisplay"] and names and names[0] != "help":
            found[names[0]] = {"description": argument.get("abstract", ""), **values(argument)}
    return {"type": "object", "properties": found, "additionalProperties": False}


commands = json.load(sys.stdin)["command"]["subcommands"]
schema = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "Options of assay",
    "description": "assay.json beside a model, or @FILE.json on the command line",
    "type": "object",
    "properties": {c["commandName"]: properties(c) for c in commands if c["commandName"] in ("convert", "run", "diff")},
    "additionalProperties": False,
    "$defs": {
        "value": {"type": ["string", "number"]},
        "values": {"type": ["string", "number", "array"], "items": {"$ref": "#/$defs/value"}},
    },
}
print(json.dumps(schema, indent=2, ensure_ascii=False))
