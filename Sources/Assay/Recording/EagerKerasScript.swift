/// The parts of the script for Keras 2 and 3, which run a model layer by layer.
enum EagerKerasScript {
  /// The modules; TensorFlow is optional in Keras 3.
  static let modules = #"""
    import builtins
    import importlib.util
    import inspect
    import io
    import sys
    import zipfile

    import numpy as np
    """#

  /// Opens the model in the first Keras that can read it.
  static let open = #"""
    def kerases():
        """The versions of Keras that are installed; those before 3 come first for a file of theirs."""
        try:
            import tensorflow as tf
        except ImportError:
            tf = None
        builtins.tf = tf
        found = [tf.keras] if tf else []
        for name in ("tf_keras", "keras"):  # tf_keras is Keras 2 beside TensorFlow 2.16 and later
            try:
                found.append(__import__(name))
            except ImportError:
                pass
        return sorted(found, key=lambda keras: is_third(keras) == (WRITTEN_BY < "3"))


    def is_third(keras):
        return hasattr(keras, "ops")


    def load(keras):
        options = {"custom_objects": CUSTOM_OBJECTS}@LAMBDAS@
        # Lambda layers store Python code, which only runs if you trust the file.
        if is_third(keras):
            keras.config.enable_unsafe_deserialization()
        @LOAD@


    def open_model():
        """Returns the model and the Keras that has read it."""
        problems = []
        for module in kerases():
            # Names that the functions of Lambda layers use without saying where they come from.
            vars(builtins).update(keras=module, K=module.backend, np=np)
            try:
                return load(module), module
            except Exception as error:
                version = "Keras %d" % (3 if is_third(module) else 2)
                problems.append("%s cannot read %s: %s" % (version, MODEL, error))
        sys.exit("\n".join(list(dict.fromkeys(problems)) + ["The network was written by Keras %s. @REMEDY@" % WRITTEN_BY]))
    """#

  /// The text for `@LAMBDAS@` if the file has functions.
  static let useLambdas = "\n    use_lambdas(keras)"

  /// Replaces functions of Lambda layers; refuses to run bytecode of another Python version.
  static let lambdas = #"""
    def use_lambdas(keras):
        """Uses the functions in LAMBDAS instead of those in the file."""
        python = "%d.%d" % sys.version_info[:2]
        theirs = [name for name, function in LAMBDAS.items() if function is None]
        if theirs and python not in LAMBDA_PYTHONS:
            sys.exit("The code of the Lambda layer %s is that of Python %s, and can crash Python %s.\nRun this script with "
                     "Python %s, or write the function into LAMBDAS." % (
                         ", ".join(theirs), " or ".join(LAMBDA_PYTHONS), python, " or ".join(LAMBDA_PYTHONS)))
        stored = keras.layers.Lambda.from_config

        def from_config(config, *args, **kwargs):
            function = LAMBDAS.get(config["name"])
            if function is None:
                return stored(config, *args, **kwargs)
            return keras.layers.Lambda(function, name=config["name"], arguments=config.get("arguments"))

        keras.layers.Lambda.from_config = from_config
    """#

  /// The text for `@LOAD@` if the model is in one file.
  static let loadModel = #"""
    if "safe_mode" in inspect.signature(keras.models.load_model).parameters:
            options["safe_mode"] = False
        return keras.models.load_model(MODEL, compile=False, **options)
    """#

  /// The text for `@LOAD@` if an architecture has separate weights.
  static let loadArchitecture = #"""
    model = keras.models.model_from_json(open(MODEL).read(), **options)
        model.load_weights(WEIGHTS)
        return model
    """#

  /// Runs the layers of the model and of nested models, named as `convert` names them.
  static let run = #"""
    def flatten(values):
        return keras.tree.flatten(values) if is_third(keras) else tf.nest.flatten(values)


    def tensors(node):
        return node.input_tensors if is_third(keras) else flatten(node.keras_inputs)


    def parts(node, known):
        """Returns a call's layer, its arguments, and its input and output tensors."""
        if is_third(keras):
            args, kwargs = node.arguments.fill_in(known)
            return node.operation, args, kwargs, tensors(node), node.outputs
        args, kwargs = node.map_arguments({str(i): [v] * 99 for i, v in known.items()})
        return node.layer, args, kwargs, tensors(node), flatten(node.outputs)


    blobs = {}


    def keep(name, value):
        while name in blobs:
            name += "_"
        blobs[name] = np.asarray(value)


    def call(layer, name, args, kwargs):
        """Runs a layer, or the layers of a model one by one, and keeps the first output of each."""
        if hasattr(layer, "_nodes_by_depth") or isinstance(layer, keras.Sequential):
            return run(layer, flatten(args), name + "_")
        outputs = flatten(layer(*args, **kwargs))
        # At prediction, Dropout does nothing.
        if type(layer).__name__ != "InputLayer" and "Dropout" not in type(layer).__name__:
            keep(name, outputs[0])
        return outputs


    def run(model, values, prefix=""):
        if isinstance(model, keras.Sequential):
            for layer in model.layers:
                values = call(layer, prefix + layer.name, (values[0] if len(values) == 1 else values,), {})
            return values
        known = dict(zip(map(id, flatten(model.inputs)), values))
        nodes = [node for depth in sorted(model._nodes_by_depth, reverse=True)
                 for node in model._nodes_by_depth[depth] if not node.is_input]
        seen = {}
        for node in nodes:
            layer, args, kwargs, inputs, outputs = parts(node, known)
            calls = [other for other in layer._inbound_nodes if other in nodes]
            # The same call twice is one; a layer that is called in several ways has numbers.
            key = lambda other: (id(layer), tuple(map(id, tensors(other))))
            if key(node) in seen:
                results = seen[key(node)]
            else:
                shared = any(key(other) != key(calls[0]) for other in calls)
                name = prefix + layer.name + ("_%d" % calls.index(node) if shared else "")
                results = seen[key(node)] = call(layer, name, args, kwargs)
            known.update(zip(map(id, outputs), results))
        return [known[id(output)] for output in flatten(model.outputs)]
    """#

  /// Reads the model and its inputs, and writes the three files.
  static let end = #"""
    model, keras = open_model()
    tensor = keras.ops.convert_to_tensor if is_third(keras) else tf.convert_to_tensor
    inputs = read_all([tuple(tensor.shape) for tensor in flatten(model.inputs)])
    outputs = model.predict(inputs if len(inputs) > 1 else inputs[0])
    keys = sorted(outputs) if isinstance(outputs, dict) else OUTPUT_NAMES
    outputs = flatten(outputs)
    run(model, [tensor(value, dtype=input.dtype) for value, input in zip(inputs, flatten(model.inputs))])
    save("inputs.npz", zip(INPUT_NAMES, inputs))
    save("expected.npz", zip(keys, outputs))
    save("layers.npz", blobs.items())
    print("inputs.npz, expected.npz and layers.npz: %d outputs, %d layers" % (len(outputs), len(blobs)))
    """#
}
