/// The parts of the script that saves Core ML's predictions.
enum CoreMLScriptParts {
  static let title = #"""
    """Saves what Core ML computes from a model: @FILES@.

    Run it on a Mac with @SYSTEM@ or later, where coremltools can predict; it needs no Xcode:

        python3 -m pip install coremltools@PILLOW@
        python3 record.py

    It ends with the command that compares what Core ML and Assay compute.
    """
    """#

  static let modules = #"""
    import io
    import platform
    import shlex
    import tempfile
    import zipfile

    import coremltools as ct
    import numpy as np
    """#

  /// The class labels of any classifier except an ML Program.
  static let classes = #"""
    def classes(model):
        """The classes of a classifier, in the order of its probabilities."""
        part = getattr(model, model.WhichOneof("Type"))
        models = getattr(getattr(part, "pipeline", part), "models", [])
        if models:
            return next(filter(None, map(classes, reversed(models))), [])
        labels = [getattr(part, name).vector for name in ("stringClassLabels", "int64ClassLabels")
                  if hasattr(part, name)]
        return list(labels[0] or labels[1]) if labels else []
    """#

  /// The class labels of an ML Program.
  static let programClasses = #"""
    def classes(model):
        """The classes of a classifier, in the order of its probabilities."""
        function = model.mlProgram.functions[@FUNCTION@]
        operations = function.block_specializations[function.opset].operations
        constants = {operation.outputs[0].name: operation for operation in operations if operation.type == "const"}
        classify = next(operation for operation in operations if operation.type == "classify")
        argument = classify.inputs["classes"].arguments[0]
        return listed(argument.value if argument.HasField("value") else constants[argument.name].attributes["val"])


    def listed(value):
        """The elements of a constant."""
        if value.immediateValue.HasField("list"):
            return [element for part in value.immediateValue.list.values for element in listed(part)]
        tensor = value.immediateValue.tensor
        return list(tensor.strings.values or tensor.longInts.values or tensor.ints.values)
    """#

  /// Brings the axes of an output into the order that the comparison expects.
  static let source = #"""
    # The axes in the framework that the model came from, in which Assay compares: T steps, N items.
    AXES = @AXES@
    INNER_AXES = @INNER@


    def source(name, array):
        """Reorders the axes of an array of Core ML."""
        wanted, _, axes = AXES.get(name, INNER_AXES).partition(":")
        if not axes:
            axes = {1: "C", 2: "NC", 3: "CHW" if set(wanted) & set("HW") else "TNC", 4: "NCHW", 5: "TNCHW"}.get(array.ndim, "")
        if array.ndim != len(axes) or any(n > 1 and axis not in wanted for n, axis in zip(array.shape, axes)):
            return array
        order = [axes.index(axis) for axis in wanted if axis in axes]
        rest = [i for i in range(array.ndim) if i not in order]
        return array.transpose(order + rest).reshape([array.shape[i] for i in order])
    """#

  /// The names of the layers' blobs, and a copy of the model with some of them as outputs.
  static let network = #"""
    network = getattr(spec, spec.WhichOneof("Type"))
    names = [name for layer in network.layers for name in layer.output if name not in outputs]
    names = list(dict.fromkeys(names))


    def with_outputs(names):
        """A copy of the model in which these are outputs, too."""
        copy = ct.proto.Model_pb2.Model()
        copy.CopyFrom(spec)
        for name in names:
            output = copy.description.output.add(name=name)
            output.type.multiArrayType.dataType = ct.proto.FeatureTypes_pb2.ArrayFeatureType.FLOAT32
        return copy
    """#

  /// The counterpart of `network` for an ML Program; outputs have the types of their operations.
  static let program = #"""
    ARRAYS, TYPES = ct.proto.FeatureTypes_pb2.ArrayFeatureType, ct.proto.MIL_pb2.DataType
    KINDS = {getattr(TYPES, kind): getattr(ARRAYS, kind) for kind in ("FLOAT32", "FLOAT16", "INT32")}


    def block(model):
        function = model.mlProgram.functions[@FUNCTION@]
        return function.block_specializations[function.opset]


    kinds = {output.name: KINDS[output.type.tensorType.dataType]
             for operation in block(spec).operations for output in operation.outputs
             if "const" not in operation.type and output.type.tensorType.dataType in KINDS}
    names = [name for name in kinds if name not in block(spec).outputs]


    def with_outputs(names):
        """A copy of the model in which these are outputs, too."""
        copy = ct.proto.Model_pb2.Model()
        copy.CopyFrom(spec)
        copy.specificationVersion = max(copy.specificationVersion, 7)  # the first with outputs of 16 bits
        for name in names:
            block(copy).outputs.append(name)
            copy.description.output.add(name=name).type.multiArrayType.dataType = kinds[name]
        return copy
    """#

  /// Predicts the blobs of the layers.
  static let layers = #"""
    def compute(names):
        """What these layers compute; leaves out those that Core ML refuses as outputs."""
        if not names:
            return {}
        try:
            copy = ct.models.MLModel(with_outputs(names), compute_units=UNITS, weights_dir=weights)
            values = copy.predict(@ARGUMENTS@)
            return {name: values[name] for name in names if name in values}
        except Exception as error:
            if len(names) == 1:
                print("not saved: %s: %s" % (names[0], error))
                return {}
            half = len(names) // 2
            return {**compute(names[:half]), **compute(names[half:])}


    weights = model.weights_dir or tempfile.mkdtemp()  # coremltools wants a folder even without weights
    layers = compute(names)
    save("core_ml_layers.npz", [(name, @LAYER@) for name, value in layers.items()])
    print("core_ml_layers.npz: %d of %d layers" % (len(layers), len(names)))
    COMPARE += ["--layers", "core_ml_layers.npz"] if layers else []
    """#

  static let end = #"""
    print("Core ML of macOS %s, coremltools %s; compare with:" % (platform.mac_ver()[0], ct.__version__))
    print(shlex.join(COMPARE))
    """#
}
