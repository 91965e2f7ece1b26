#!/usr/bin/env python3
"""structure.py ASSAY SHARED [RESULTS.json] — the structure of conversions beside the reference's own.

Runs SHARED/tools/run_corpus.py --structure over the corpora of Keras (or reads what it has written
with --json). Where the reference agrees with the source framework, the structure is the same, apart
from the deliberate differences below, whose reasons stand in docs/differences.md. Exits with 1 where
one more differs, or one of these no longer does. Needs numpy and coremltools."""
import json
import os
import subprocess
import sys
import tempfile

DELIBERATE = {
    "conv_act_selu": "activation `selu`",
    "layer_act_selu": "activation `selu`",
    "test_dense_selu": "activation `selu`",
    "embedding_mask_zero": "`Embedding(mask_zero=True)`",
    "variable_size_dict": "an output whose size depends on `input_name_shape_dict`",
    "test_conv_batch_1d": "batch normalization or a merge layer between one-dimensional layers",
    "test_clickbait_cnn_half_precision": "batch normalization or a merge layer between one-dimensional layers",
    "test_model_with_duplicated_edges": "a merge layer of branches with and without `activation=`",
    "test_tiny_babi_rnn": "a merge layer of branches with and without `activation=`",
    "keras1/keras_numeric.KerasBasicNumericCorrectnessTest.test_reshape_3d": "outputs of three axes",
    "keras1/keras_numeric.KerasBasicNumericCorrectnessTest.test_zeropad_fancy": "outputs of three axes",
    "keras-variants/tf.keras-2.2.4-tf__gru": "tf.keras",
    "keras-variants/tf.keras-2.2.4-tf__rnn": "tf.keras",
}


def results(assay, shared):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "results.json")
        corpora = [os.path.join(shared, "corpus", name) for name in ("keras", "keras1", "keras-variants")]
        subprocess.run([sys.executable, os.path.join(shared, "tools", "run_corpus.py"), assay, *corpora,
                        "--structure", "--quiet", "--jobs", "1", "--json", path], check=False)
        with open(path) as file:
            return json.load(file)


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    if not os.path.isdir(os.path.join(sys.argv[2], "corpus")):
        print(f"{sys.argv[2]} has no corpus: nothing compared")
        return 0
    if len(sys.argv) == 4:
        with open(sys.argv[3]) as file:
            cases = json.load(file)
    else:
        cases = results(*sys.argv[1:])
    compared, failed, seen = 0, 0, set()
    for case in cases:
        if (case.get("reference_agrees") or [""])[0] != "ok" or "structure" not in case:
            continue
        compared += 1
        key = next((key for key in DELIBERATE if key in case["case"]), None)
        if case["structure"] == "same":
            if key and key not in seen and sum(key in other["case"] for other in cases) == 1:
                print(f"{case['case']}: no longer differs")
                failed += 1
            continue
        if key:
            seen.add(key)
        else:
            print(f"{case['case']}: {'; '.join(case['structure_why'])[:400]}")
            failed += 1
    print(f"{compared} compared, {len(seen)} deliberate differences, {failed} failures")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
