"""The networks in the notebooks of keras-js, without running their code: see keras_js.py.

Literals, names, loops over lists, and calls of layers are evaluated; other code has no value.
"""
import ast, json

# positional arguments and weights of the layers
LAYERS = {
    "Dense": "units: kernel bias", "Conv1D Conv2D Conv3D Conv2DTranspose": "filters kernel_size: kernel bias",
    "SeparableConv2D": "filters kernel_size: depthwise_kernel pointwise_kernel bias", "PReLU": ": alpha",
    "SimpleRNN LSTM GRU": "units: kernel recurrent_kernel bias", "Embedding": "input_dim output_dim: embeddings",
    "BatchNormalization": ": gamma beta moving_mean moving_variance", "Bidirectional TimeDistributed": "layer:",
    "Activation": "activation:", "Dropout GaussianDropout": "rate:", "GaussianNoise": "stddev:", "Permute": "dims:",
    "RepeatVector": "n:", "Reshape": "target_shape:"}
LAYERS = {kind: [part.split() for part in text.split(":")] for kinds, text in LAYERS.items() for kind in kinds.split()}
OPTIONAL = {"bias": "use_bias", "gamma": "scale", "beta": "center"}


def load(path):
    with open(path, encoding="utf-8") as f: return json.load(f)


def listed(value):
    return value if isinstance(value, list) else [value]


class Layer:
    """A layer with its arguments, and with its inputs once it is called."""
    def __init__(self, kind, *arguments, **keywords):
        self.kind, self.inputs = kind, []
        positional, self.names = LAYERS.get(kind, ([], []))
        self.config = {**dict(zip(positional, arguments)), **keywords}

    def __call__(self, tensors):
        self.inputs = listed(tensors)
        return self

    def weights(self):
        if "layer" in self.config:
            ways = ["forward/", "backward/"] if self.kind == "Bidirectional" else [""]
            return [way + w for way in ways for w in self.config["layer"].weights()]
        return [w for w in self.names if self.config.get(OPTIONAL.get(w), True)]

    def description(self, name):
        config = {k: v.description(f"{name}_layer") if isinstance(v, Layer) else v for k, v in self.config.items()}
        return {"class_name": self.kind, "name": name, "config": {**config, "name": name}}


def placeholder(shape):
    return Layer("InputLayer", batch_input_shape=(None, *shape), dtype="float32", sparse=False)


def model(shape, layer):
    inputs = placeholder(shape)
    return [inputs], layer(inputs)


class Notebook:
    """The networks of a notebook by the key of DATA that their outputs are stored under."""
    def __init__(self, path):
        self.names, self.networks = {}, {}
        for cell in load(path)["cells"]:
            if cell["cell_type"] == "code":
                self.names["model"] = None
                self.run(ast.parse("".join(cell["source"])).body)

    def run(self, statements):
        for s in statements:
            if isinstance(s, ast.For):
                for item in self.attempt(s.iter) or []:
                    self.assign(s.target, item)
                    self.run(s.body)
            elif isinstance(s, ast.Assign) and ast.unparse(s.targets[0]).startswith("DATA["):
                self.networks[self.value(s.targets[0].slice)] = self.names["model"]
            elif isinstance(s, ast.Assign):
                self.assign(s.targets[0], self.attempt(s.value))

    def attempt(self, e):
        try:
            return self.value(e)
        except (AttributeError, KeyError, TypeError, ValueError):  # code that computes with arrays
            return None

    def assign(self, target, value):
        if isinstance(target, ast.Tuple):
            for t, v in zip(target.elts, value): self.assign(t, v)
        else:
            self.names[target.id] = value

    def value(self, e):
        if isinstance(e, ast.Call): return self.call(e)
        if isinstance(e, ast.Name): return self.names[e.id]
        if isinstance(e, ast.List): return [self.value(x) for x in e.elts]
        if isinstance(e, ast.Tuple):
            return sum((self.value(x.value) if isinstance(x, ast.Starred) else (self.value(x),) for x in e.elts), ())
        if isinstance(e, ast.Subscript): return self.value(e.value)[self.value(e.slice)]
        if isinstance(e, ast.Slice): return slice(*(x and self.value(x) for x in (e.lower, e.upper)))
        if isinstance(e, ast.FormattedValue): return str(self.value(e.value))
        if isinstance(e, ast.JoinedStr): return "".join(self.value(x) for x in e.values)
        return ast.literal_eval(e)

    def call(self, e):
        name, keywords = ast.unparse(e.func), {k.arg: self.value(k.value) for k in e.keywords}
        if name.startswith("activations."):
            name = name.split(".")[1]
            advanced = {"elu": "ELU", "relu": "ReLU" if "max_value" in keywords else "LeakyReLU"}
            layer = Layer(advanced[name], **keywords) if keywords else Layer("Activation", name)
            self.names["model"] = model(self.names["data_in_shape"], layer)
        elif name == "enumerate":
            return list(enumerate(self.value(e.args[0])))
        elif name == "Input":
            return placeholder(keywords["shape"] if "shape" in keywords else keywords["batch_shape"][1:])
        elif name == "Model":
            return listed(keywords["inputs"]), keywords["outputs"]
        elif isinstance(e.func, ast.Name) and name[0].isupper() and name not in self.names:
            return Layer(name, *(self.value(x) for x in e.args), **keywords)
        else:
            return self.value(e.func)(self.value(e.args[0]))
