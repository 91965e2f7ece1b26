import ByteFormats
import KerasImport
import TensorCore

/// A framework whose predictions a script can record.
package enum RecordingFramework: String, CaseIterable, Sendable {
  case keras1, keras2, keras3, caffe

  /// The framework that wrote the network.
  ///
  /// - Throws: `.unsupported` for networks of frameworks without a suitable Python interface.
  package init(of source: ModelSource) throws {
    switch source {
    case .keras(let source):
      self = source.majorVersion == 1 ? .keras1 : source.majorVersion == 2 ? .keras2 : .keras3
    case .caffe: self = .caffe
    case .darknet:
      throw ModelError(
        .unsupported, "the Python interface of Darknet does not expose what its layers compute",
        hint: "write the arrays from C, and compare them with --expected and --layers")
    case .coreML:
      throw ModelError(
        .unsupported, "is already a Core ML model",
        hint: "name the file that it was converted from")
    }
  }

  fileprivate var isKeras: Bool { self != .caffe }
}

/// A Python script that runs a network in its framework and writes `inputs.npz`, `expected.npz` and
/// `layers.npz`, which `diff` reads with `--expected` and `--layers`.
///
/// Layers have the names that `convert` gives them: a layer of a nested model is prefixed with the
/// model's name, and a layer that is called several times gets a number.
package struct RecordingScript: Sendable {
  package let text: String

  /// - Parameters:
  ///   - weights: the weights file of an architecture.
  ///   - inputs: files, one per input, or a batch for a single input; random values if empty.
  /// - Throws: `.mismatch` if the framework cannot read the network.
  package init(
    _ source: ModelSource, framework: RecordingFramework, model: String, weights: String?,
    inputs: [String]
  ) throws {
    let own = try RecordingFramework(of: source)
    try require(
      own.isKeras == framework.isKeras, .mismatch,
      "\(framework.rawValue) cannot read a network of \(own.isKeras ? "Keras" : "Caffe")",
      hint: "omit --framework")
    var constants = "MODEL = \(JSONValue.quoted(model))\n"
    if let weights { constants += "WEIGHTS = \(JSONValue.quoted(weights))\n" }
    constants +=
      "INPUTS = [\(inputs.map(JSONValue.quoted).joined(separator: ", "))]"
      + "  # .npy, .npz or images; random values if there are none\n"
    let parts: [String] =
      switch framework {
      case .caffe: Self.caffe
      case .keras1: Self.keras1(hasWeights: weights != nil)
      case .keras2, .keras3: Self.eager(framework, hasWeights: weights != nil)
      }
    // The constants follow the modules.
    text =
      ([Self.title(framework), parts[0] + "\n\n" + constants + "\n"] + parts.dropFirst())
      .joined(separator: "\n\n") + "\n"
  }

  private static func title(_ framework: RecordingFramework) -> String {
    let name =
      framework.isKeras ? "Keras \(framework.rawValue.last.map(String.init) ?? "")" : "Caffe"
    return #"""
      """Writes what \#(name) computes: inputs.npz, expected.npz (the outputs) and layers.npz.

          python3 record.py
          assay diff MODEL.mlmodel inputs.npz --expected expected.npz --layers layers.npz
      """
      """#
  }

  private static func prepare(_ example: String) -> String {
    RecordingScriptParts.prepare.replacing("@EXAMPLE@", with: "such as " + example) + "\n"
  }

  private static var caffe: [String] {
    [
      "import caffe\nimport numpy as np",
      prepare("image[:, :, ::-1] - [104, 117, 123]: BGR minus the mean"),
      RecordingScriptParts.readForCaffe + "\n", RecordingScriptParts.readAll + "\n",
      RecordingScriptParts.caffe,
    ]
  }

  private static func eager(_ framework: RecordingFramework, hasWeights: Bool) -> [String] {
    let isThird = framework == .keras3
    let images = isThird ? "keras.utils" : "keras.preprocessing.image"
    let open =
      hasWeights
      ? "keras.models.model_from_json(open(MODEL).read())\nmodel.load_weights(WEIGHTS)"
      : "keras.models.load_model(MODEL, compile=False)  # custom_objects={…} for your own classes"
        .replacing("…", with: "\"Name\": Class")
    return [
      isThird
        ? "import keras\nimport numpy as np"
        : """
        import numpy as np
        import tensorflow as tf

        try:
            import tf_keras as keras  # Keras 2 beside TensorFlow 2.16 and later
        except ImportError:
            from tensorflow import keras
        """,
      prepare("image / 127.5 - 1"),
      RecordingScriptParts.read.replacing(
        "@LOAD@",
        with: """
          image = \(images).load_img(
                  path, color_mode="grayscale" if 1 in (shape[-1], shape[1] if first else 0) else "rgb",
                  target_size=None if None in size else size)
              array = \(images).img_to_array(image, data_format="channels_last")
          """) + "\n",
      RecordingScriptParts.readAll + "\n",
      (isThird ? EagerKerasScript.keras3 : EagerKerasScript.keras2) + "\n",
      EagerKerasScript.run + "\n",
      EagerKerasScript.end.replacing("@OPEN@", with: open)
        .replacing(
          "@TENSOR@", with: isThird ? "keras.ops.convert_to_tensor" : "tf.convert_to_tensor"),
    ]
  }

  private static func keras1(hasWeights: Bool) -> [String] {
    [
      """
      import keras
      import numpy as np
      from keras import backend as K
      from keras.models import load_model, model_from_json
      from keras.preprocessing.image import img_to_array, load_img
      """,
      prepare("image / 127.5 - 1"),
      RecordingScriptParts.read.replacing(
        "@LOAD@",
        with: """
          image = load_img(
                  path, grayscale=1 in (shape[-1], shape[1] if first else 0),
                  target_size=None if None in size else size)
              array = img_to_array(image, dim_ordering="tf")
          """) + "\n",
      RecordingScriptParts.readAll + "\n", SymbolicKerasScript.run + "\n",
      SymbolicKerasScript.end.replacing(
        "@OPEN@",
        with: hasWeights
          ? "model_from_json(open(MODEL).read())\nmodel.load_weights(WEIGHTS)" : "load_model(MODEL)"
      ),
    ]
  }
}
