"""Copies the smallest cases of the reference corpus that together hold every kind of layer of the
source framework and of Core ML that the whole corpus holds, into Fixtures/corpus.

    python3 Tests/Tools/corpus_sample.py ../shared/corpus
"""
import json
import shutil
import sys
from pathlib import Path

needed = ["coremltools.mlmodel", "inputs.npz", "expected.npz"]
largest = 40_000


def kinds(folder, meta):
    """The kinds of layers of a case, by their names in either framework."""
    found = {"coreml " + layer[1] for layer in meta["mlmodel_layers"]}
    found |= {"source " + str(layer) for layer in meta.get("layers", [])}
    for text in folder.glob("*.prototxt"):
        for line in text.read_text().replace("{", "\n").split("\n"):
            words = line.split()
            if len(words) == 2 and words[0] == "type:":
                found.add("source " + words[1].strip("\"'"))
    return found


def cases(framework):
    for folder in sorted(framework.iterdir()):
        meta_file = folder / "meta.json"
        if not meta_file.exists() or not all((folder / name).exists() for name in needed):
            continue
        meta = json.loads(meta_file.read_text())
        if meta.get("convert") != "ok" or meta["reference_agrees_with_source"][:1] != ["ok"]:
            continue
        if not set(meta.get("convert_kwargs", {})) <= {"input_names", "output_names"}:
            continue
        size = sum(file.stat().st_size for file in folder.iterdir())
        if size <= largest:
            yield size, folder, kinds(folder, meta)


corpus = Path(sys.argv[1])
target = Path(__file__).resolve().parents[2] / "Fixtures" / "corpus"
for framework in ["keras", "keras1", "caffe"]:
    missing, chosen = set(), []
    everything = list(cases(corpus / framework))
    for _, _, found in everything:
        missing |= found
    while missing:
        # What is new for each byte.
        size, folder, found = max(everything, key=lambda c: (len(c[2] & missing) / c[0], c[1].name))
        chosen.append(folder)
        missing -= found
    for folder in chosen:
        copy = target / framework / folder.name
        copy.mkdir(parents=True, exist_ok=True)
        for file in folder.iterdir():
            shutil.copyfile(file, copy / file.name)
    print(framework, len(chosen), "of", len(everything))
