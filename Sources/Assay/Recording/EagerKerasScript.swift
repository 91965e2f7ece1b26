/// The parts of the scripts that run tf.keras 2 and Keras 3 layer by layer.
enum EagerKerasScript {
  /// How tf.keras 2 stores the calls of layers.
  static let keras2 = #"""
    flatten = tf.nest.flatten


    def tensors(node):
        return flatten(node.keras_inputs)


    def parts(node, known):
        """Returns a call's layer, its arguments, and its input and output tensors."""
        args, kwargs = node.map_arguments({str(i): [v] * 99 for i, v in known.items()})
        return node.layer, args, kwargs, tensors(node), flatten(node.outputs)
    """#

  /// How Keras 3 stores them.
  static let keras3 = #"""
    flatten = keras.tree.flatten


    def tensors(node):
        return node.input_tensors


    def parts(node, known):
        """Returns a call's layer, its arguments, and its input and output tensors."""
        args, kwargs = node.arguments.fill_in(known)
        return node.operation, args, kwargs, tensors(node), node.outputs
    """#

  /// Runs the layers of a model and of nested models under the names that `convert` gives them.
  static let run = #"""
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
    model = @OPEN@
    inputs = read_all([tuple(tensor.shape) for tensor in flatten(model.inputs)])
    outputs = flatten(model.predict(inputs if len(inputs) > 1 else inputs[0]))
    run(model, [@TENSOR@(value, dtype=tensor.dtype) for value, tensor in zip(inputs, flatten(model.inputs))])
    np.savez("inputs.npz", **{"input%d" % (i + 1): value for i, value in enumerate(inputs)})
    np.savez("expected.npz", **{"output%d" % (i + 1): value for i, value in enumerate(outputs)})
    np.savez("layers.npz", **{name.replace("/", "__SLASH__"): value for name, value in blobs.items()})
    print("inputs.npz, expected.npz and layers.npz: %d outputs, %d layers" % (len(outputs), len(blobs)))
    """#
}
