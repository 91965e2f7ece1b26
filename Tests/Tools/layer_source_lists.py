#!/usr/bin/env python3
"""The lists of public layer classes, subclassed models and builder functions that --layer-source is measured on.

    layer_source_lists.py gather FOLDER   write pool.tsv from the git directories FOLDER/OWNER+NAME
    layer_source_lists.py draw            write layers.tsv, models.tsv and builders.tsv from pool.tsv

The repositories of the pool are those that searches of public code for the usual kinds of layer returned (attention,
capsules, patch embedding, normalization, pooling, graph convolution, gated units, padding, transformer blocks and the
like). `draw` is seeded: the lists were drawn, and committed, before Assay read any Python, and no row is replaced.
Only the place of each class is kept here, never its text.
"""

import ast
import pathlib
import random
import subprocess
import sys
import warnings

LISTS = pathlib.Path(__file__).parent.parent.parent / "Fixtures" / "keras" / "layer-sources"
SEED = 51
DRAWN = {"layer": ("layers.tsv", 120), "model": ("models.tsv", 10), "builder": ("builders.tsv", 20)}
OF_ONE_REPOSITORY_IN_POOL, OF_ONE_REPOSITORY_IN_LIST = 12, 2
THE_FRAMEWORK_ITSELF = {"keras-team+keras", "keras-team+tf-keras", "transcranial+keras-js"}


def git(folder, *arguments):
    return subprocess.run(["git", "--git-dir", str(folder), *arguments], capture_output=True, timeout=120).stdout


def last_name(expression):
    return expression.attr if isinstance(expression, ast.Attribute) else getattr(expression, "id", "")


def called_names(node):
    return [last_name(part.func) for part in ast.walk(node) if isinstance(part, ast.Call)]


def kinds(tree):
    """(kind, name, text) of every class and function of a module that one of the lists is about."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            methods = {part.name for part in node.body if isinstance(part, ast.FunctionDef)}
            bases = {last_name(base) for base in node.bases}
            if "call" in methods and "Layer" in bases:
                yield "layer", node.name, ast.dump(node)
            elif "call" in methods and "Model" in bases:
                yield "model", node.name, ast.dump(node)
        elif isinstance(node, ast.FunctionDef):
            names = called_names(node)
            returns = any(isinstance(part, ast.Return) and part.value for part in ast.walk(node))
            trains = {"compile", "fit", "load_model", "open"} & set(names)
            layers = {"Conv1D", "Conv2D", "Conv3D", "Dense", "LSTM", "GRU", "SeparableConv2D"} & set(names)
            if returns and layers and not trains and (("Input" in names and "Model" in names) or "Sequential" in names):
                yield "builder", node.name, ast.dump(node)


def gather(folder):
    warnings.simplefilter("ignore")
    rows, seen = [], set()
    for repository in sorted(pathlib.Path(folder).iterdir(), key=lambda path: path.name.lower()):
        directory = next((path for path in (repository / "repo" / ".git", repository / "repo") if (path / "HEAD").exists()), None)
        if not directory or repository.name in THE_FRAMEWORK_ITSELF:
            continue
        commit = git(directory, "rev-parse", "HEAD").decode().strip()
        of_kind = {}
        for path in git(directory, "ls-tree", "-r", "-z", "--name-only", "HEAD").decode(errors="replace").split("\0"):
            if not path.endswith(".py") or "test" in path.lower():
                continue
            text = git(directory, "show", f"HEAD:{path}").decode(errors="replace")
            if "keras" not in text or "torch" in text:
                continue
            try:
                found = list(kinds(ast.parse(text)))
            except (SyntaxError, ValueError, RecursionError):
                continue
            for kind, name, dump in found:
                if (name, dump) not in seen:
                    seen.add((name, dump))
                    of_kind.setdefault(kind, []).append((kind, repository.name.replace("+", "/", 1), commit, path, name))
        for found in of_kind.values():
            random.Random(SEED).shuffle(found)
            rows += sorted(found[:OF_ONE_REPOSITORY_IN_POOL])
    write(LISTS / "pool.tsv", rows)


def draw():
    pool = [line.split("\t") for line in (LISTS / "pool.tsv").read_text().splitlines()[1:]]
    for kind, (name, count) in DRAWN.items():
        rows = [row for row in pool if row[0] == kind]
        random.Random(SEED).shuffle(rows)
        drawn, taken = [], {}
        for row in rows:
            taken[row[1]] = taken.get(row[1], 0) + 1
            if taken[row[1]] <= OF_ONE_REPOSITORY_IN_LIST and len(drawn) < count:
                drawn.append(row)
        write(LISTS / name, drawn)


def write(path, rows):
    path.write_text("".join("\t".join(row) + "\n" for row in [("kind", "repository", "commit", "path", "name"), *rows]))
    print(f"{path.name}: {len(rows)}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["gather"] and len(sys.argv) == 3:
        gather(sys.argv[2])
    elif sys.argv[1:] == ["draw"]:
        draw()
    else:
        sys.exit(__doc__)
