/// The parts of the script for Keras 1, whose layers compute symbolically.
enum SymbolicKerasScript {
  /// Calls the layers of the model and of nested models, named as `convert` names them.
  static let run = #"""
    blobs = {}


    def keep(name, value):
        while name in blobs:
            name += "_"
        blobs[name] = value


    def listed(value):
        return list(value) if isinstance(value, (list, tuple)) else [value]


    def call(layer, name, values, masks, arguments):
        """The outputs and masks of a layer, or of the layers of a model; keeps the first output of each."""
        if hasattr(layer, "nodes_by_depth") or isinstance(layer, keras.models.Sequential):
            return run(layer, values, masks, name + "_")
        if type(layer).__name__ == "InputLayer":
            return values, masks
        one = len(values) == 1
        value, mask = (values[0], masks[0]) if one else (values, masks)
        outputs = listed(layer.call(value, mask=mask, **arguments))
        shapes = [K.int_shape(value) for value in values]
        shapes = layer.get_output_shape_for(shapes[0] if one else shapes)
        for output, shape in zip(outputs, shapes if isinstance(shapes, list) else [shapes]):
            output._keras_shape = shape
        if "Dropout" not in type(layer).__name__:
            keep(name, outputs[0])
        return outputs, listed(layer.compute_mask(value, mask))


    def run(model, values, masks, prefix=""):
        if isinstance(model, keras.models.Sequential):
            for layer in model.layers:
                branches = getattr(layer, "layers", None)
                if type(layer).__name__ == "Merge" and branches and layer is model.layers[0]:
                    results = []
                    for branch in branches:
                        count = len(branch.inputs)
                        results.append(run(branch, values[:count], masks[:count], prefix + branch.name + "_"))
                        values, masks = values[count:], masks[count:]
                    values = sum([result[0] for result in results], [])
                    masks = sum([result[1] for result in results], [])
                values, masks = call(layer, prefix + layer.name, values, masks, {})
            return values, masks
        known = dict(zip(map(id, model.inputs), zip(values, masks)))
        nodes = [node for depth in sorted(model.nodes_by_depth, reverse=True)
                 for node in model.nodes_by_depth[depth]]
        seen = {}
        for node in nodes:
            layer = node.outbound_layer
            if type(layer).__name__ == "InputLayer":
                continue
            calls = [other for other in layer.inbound_nodes if other in nodes]
            # The same call twice is one; a layer that is called in several ways has numbers.
            key = lambda other: (id(layer), tuple(map(id, other.input_tensors)))
            if key(node) not in seen:
                shared = any(key(other) != key(calls[0]) for other in calls)
                name = prefix + layer.name + ("_%d" % calls.index(node) if shared else "")
                given = [known[id(tensor)] for tensor in node.input_tensors]
                seen[key(node)] = call(
                    layer, name, [value for value, _ in given], [mask for _, mask in given],
                    getattr(node, "arguments", None) or {})
            known.update(zip(map(id, node.output_tensors), zip(*seen[key(node)])))
        results = [known[id(output)] for output in model.outputs]
        return [value for value, _ in results], [mask for _, mask in results]
    """#

  /// Reads the model and its inputs, and writes the three files.
  static let end = #"""
    if not keras.__version__.startswith("1."):
        sys.exit("Keras %s cannot read a network of Keras 1. @REMEDY@" % keras.__version__)
    model = @OPEN@
    inputs = read_all([K.int_shape(tensor) for tensor in model.inputs])
    outputs = listed(model.predict(inputs if len(inputs) > 1 else inputs[0]))
    run(model, model.inputs, [None] * len(model.inputs))
    names = sorted(blobs)
    compute = K.function(model.inputs + [K.learning_phase()], [blobs[name] for name in names])
    values = compute([np.asarray(value, "float32") for value in inputs] + [0])
    save("inputs.npz", zip(INPUT_NAMES, inputs))
    save("expected.npz", zip(OUTPUT_NAMES, outputs))
    save("layers.npz", zip(names, values))
    print("inputs.npz, expected.npz and layers.npz: %d outputs, %d layers" % (len(outputs), len(names)))
    """#
}
