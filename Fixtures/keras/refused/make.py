#!/usr/bin/env python3.11
"""Writes lambdas.json (functions as Python 3.11's marshal writes them) and the files wide_*.h5 (a Dense
whose kernel is of whole numbers) and quantized_attention.h5. Needs h5py, numpy and keras 3."""
import base64
import json
import marshal
import os
import h5py
import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))

# Those that start with "ok" are the only ones that Python computes at once.
FUNCTIONS = {
'zero_modulo':"def f(x):\n a=7; b=0\n return x*(a%b)",
'float_zero':"def f(x):\n a=7.0; b=0\n return x*(a/b)",
'zero_power':"def f(x):\n a=0; b=-1\n return x*a**b",
'shift':"def f(x):\n a=1; b=-1\n return x*(a<<b)",
'huge_power':"def f(x):\n a=2; b=10; c=9\n return x*(a**b**c)",
'huge_float':"def f(x):\n a=2.0; b=1e9\n return x*(a**b)",
'complex':"def f(x):\n a=-8.0; b=0.5\n return x*(a**b)",
'digits':"def f(x):\n a=4611686018427387904; b=4\n return x*(a*b)",
'text_repeat':"def f(x):\n a='a'; b=1000000000\n return x*len(a*b)",
'tuple_repeat':"def f(x):\n a=(1,); b=1000000000\n return x*len(a*b)",
'nested_repeat':"def f(x):\n a=(1,)\n n=4000\n a=(a*n,)*n\n a=(a,)*n\n return x*len(a)",
'list_in_itself':"def f(x):\n a=[]\n a.append(a)\n b=(a,)\n return x*len(b)",
'doubling':"def f(x):\n a=(1,)\n for i in range(60):\n  a=(a,a)\n return x*len(a)",
'sqrt':"import math\ndef f(x):\n a=-1.0\n return x*math.sqrt(a)",
'sizes_zero':"def f(x):\n a=0\n return x*(x.shape[1]//a)",
'arrays':"import numpy as np\ndef f(x):\n a=np.ones((1000,1000))\n for i in range(2000):\n  a=a+1.0\n return x*a",
'ok_floor':"def f(x):\n a=-7; b=2\n return x*(a//b) + a%b",
'ok_power':"def f(x):\n a=2; b=-3\n return x*a**b + 3**4",
}

cases = []
for name, source in FUNCTIONS.items():
    scope = {}
    exec(compile(source, "f", "exec"), scope)
    code = base64.b64encode(marshal.dumps(scope["f"].__code__)).decode()
    cases.append({"name": name, "source": source, "code": code})
with open(os.path.join(HERE, "lambdas.json"), "w") as file:
    json.dump({"cases": cases}, file, indent=1)

for name, kind, value in [("int64", "<i8", 2**24 + 1), ("uint64", "<u8", 2**63 + 1),
                          ("exact", "<i8", 7)]:
    config = {"name": "d", "trainable": True, "dtype": "float32", "units": 1, "activation": "linear",
              "use_bias": False, "batch_input_shape": [None, 2]}
    with h5py.File(os.path.join(HERE, "wide_%s.h5" % name), "w") as file:
        file.attrs["keras_version"] = b"2.9.0"
        file.attrs["backend"] = b"tensorflow"
        file.attrs["model_config"] = json.dumps({"class_name": "Sequential", "config": {
            "name": "s", "layers": [{"class_name": "Dense", "config": config}]}}).encode()
        root = file.create_group("model_weights")
        root.attrs["layer_names"] = np.array([b"d"])
        group = root.create_group("d")
        group.attrs["weight_names"] = np.array([b"d/kernel:0"])
        group.create_dataset("d/kernel:0", data=np.array([[1], [value]], kind))

import keras

keras.utils.set_random_seed(1)
x = keras.Input((4, 6))
attention = keras.Model(x, keras.layers.MultiHeadAttention(2, 3)(x, x))
attention.quantize("int8")
attention.save(os.path.join(HERE, "quantized_attention.h5"))
