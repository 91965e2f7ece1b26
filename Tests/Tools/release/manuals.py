"""Writes one man page for each command, from the argument parser's own description of itself.

    assay --experimental-dump-help | python3 manuals.py FOLDER VERSION DATE
"""

import json
import os
import sys


def escaped(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\n".join("\\&" + line if line[:1] in (".", "'") else line for line in text.split("\n"))


def spelled(name):
    return ("--" if name["kind"] == "long" else "-") + name["name"]


def value(argument):
    return argument.get("valueName", "value")


def usage(argument):
    """The argument in a synopsis; the names are bold, the values in italics."""
    if argument["kind"] == "positional":
        text = f"\\fI{escaped(value(argument))}\\fR"
    else:
        text = f"\\fB{escaped(spelled(argument['preferredName']))}\\fR"
        if argument["kind"] == "option":
            text += f" \\fI{escaped(value(argument))}\\fR"
    if argument["isRepeating"]:
        text += " ..."
    return f"[{text}]" if argument["isOptional"] else text


def entry(argument):
    if argument["kind"] == "positional":
        title = f"\\fI{escaped(value(argument))}\\fR"
    else:
        title = ", ".join(f"\\fB{escaped(spelled(name))}\\fR" for name in argument["names"])
        if argument["kind"] == "option":
            title += f" \\fI{escaped(value(argument))}\\fR"
    text = argument.get("abstract", "")
    if argument.get("allValues"):
        text += f" Values: {', '.join(argument['allValues'])}."
    if argument.get("defaultValue") and argument["kind"] != "flag":
        text += f" Default: {argument['defaultValue']}."
    return f".TP\n{title}\n{escaped(text.strip())}\n"


def discussion(text):
    """Headed blocks become sections; indented lines stay as they are."""
    result, is_literal = "", False
    for line in text.split("\n"):
        indented = line.startswith("  ")
        if is_literal and not indented:
            result += ".fi\n.RE\n"
        if indented and not is_literal:
            result += ".RS\n.nf\n"
        is_literal = indented
        if line.endswith(":") and line.isupper():
            result += f".SH {escaped(line[:-1])}\n"
        elif line.strip():
            result += escaped(line[2:] if indented else line) + "\n"
        else:
            result += ".PP\n"
    return result + (".fi\n.RE\n" if is_literal else "")


def page(command, path, version, date):
    name = "-".join(path)
    shown = [a for a in command.get("arguments", []) if a.get("shouldDisplay", True)]
    commands = [c for c in command.get("subcommands", [])
                if c.get("shouldDisplay", True) and c["commandName"] != "help"]
    result = f'.TH "{escaped(name.upper())}" 1 "{date}" "Assay {version}" "Assay"\n'
    result += f".SH NAME\n{escaped(name)} \\- {escaped(command.get('abstract', ''))}\n"
    result += f".SH SYNOPSIS\n\\fB{escaped(' '.join(path))}\\fR"
    result += "".join(" " + usage(a) for a in shown)
    result += (" \\fIcommand\\fR" if commands else "") + "\n"
    sections = {}
    for argument in shown:
        kind = "Arguments" if argument["kind"] == "positional" else "Options"
        sections.setdefault(argument.get("sectionTitle") or kind, []).append(argument)
    for title, arguments in sections.items():
        result += f".SH {escaped(title.upper())}\n" + "".join(map(entry, arguments))
    if commands:
        result += ".SH COMMANDS\n"
        for each in commands:
            other = "-".join(path + [each["commandName"]])
            result += f".TP\n\\fB{escaped(other)}\\fR(1)\n{escaped(each.get('abstract', ''))}\n"
    if command.get("discussion"):
        text = discussion(command["discussion"])
        result += text if text.startswith(".SH") else ".SH DESCRIPTION\n" + text
    return name, result, commands


def write(command, path, folder, version, date):
    name, text, commands = page(command, path, version, date)
    with open(os.path.join(folder, name + ".1"), "w", encoding="utf-8") as file:
        file.write(text)
    for each in commands:
        write(each, path + [each["commandName"]], folder, version, date)


if __name__ == "__main__":
    folder, version, date = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    root = json.load(sys.stdin)["command"]
    write(root, [root["commandName"]], folder, version, date)
