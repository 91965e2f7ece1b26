import ByteFormats
import CoreMLModel
import KerasImport
import ModelPrediction
import TensorCore

/// A framework whose predictions a script can record.
package enum RecordingFramework: Sendable {
  case keras1, keras, caffe, coreML
}

/// A Python script that runs a network in its framework and writes `inputs.npz`, `expected.npz` and
/// `layers.npz`, which `diff` reads with `--expected` and `--layers`; for a Core ML model, a
/// `CoreMLScript`.
///
/// Layers are named as `convert` names them: a layer of a nested model is prefixed with the model's
/// name, and a layer that is called several times gets a number.
package struct RecordingScript: Sendable {
  package let text: String

  /// - Parameters:
  ///   - weights: the weights file of an architecture.
  ///   - inputs: files, one per input, or a batch for a single input; random values if empty.
  /// - Throws: `.mismatch` if the framework cannot read the network.
  package init(_ source: ModelSource, model: String, weights: String?, inputs: [String]) throws {
    let framework = try source.recordingFramework()
    if case .coreML(let document) = source {
      text = try CoreMLScript(document, path: model, inputs: inputs).text
      return
    }
    var constants = "MODEL = \(JSONValue.quoted(model))\n"
    if let weights { constants += "WEIGHTS = \(JSONValue.quoted(weights))\n" }
    constants +=
      "INPUTS = [\(Self.list(inputs))]"
      + "  # .npy, .npz or images; random values if there are none\n"
    var isThird = false
    var lambdas: (names: [String], versions: [String]) = ([], [])
    if case .keras(let keras) = source {
      isThird = keras.majorVersion == 3
      let interface = (try? source.inspectedModel())?.description ?? ModelDescription()
      constants += Self.names("INPUT", interface.input.filter { $0.type?.isOptional != true })
      constants += Self.names("OUTPUT", interface.output)
      if framework == .keras {
        constants += """
          WRITTEN_BY = \(JSONValue.quoted(keras.versionText))
          CUSTOM_OBJECTS = {}  # your own classes and functions: {"Name": Class}

          """
        lambdas = keras.lambdas
        if !lambdas.names.isEmpty {
          let members = lambdas.names.map { "\(JSONValue.quoted($0)): None" }
          constants += """
            LAMBDAS = {\(members.joined(separator: ", "))}  # functions instead of the file's: lambda x: …
            LAMBDA_PYTHONS = [\(Self.list(lambdas.versions))]  # the versions of Python for the file's

            """.replacing("…", with: "x * tf.sigmoid(x)")
        }
      }
    }
    let parts: [String] =
      switch framework {
      case .keras1: Self.keras1(hasWeights: weights != nil)
      case .keras:
        Self.eager(hasWeights: weights != nil, isThird: isThird, hasLambdas: !lambdas.names.isEmpty)
      case .caffe, .coreML: Self.caffe
      }
    // The constants follow the modules.
    text =
      ([Self.title(framework), parts[0] + "\n\n" + constants + "\n"] + parts.dropFirst())
      .joined(separator: "\n\n") + "\n"
  }

  private static func list(_ texts: [String]) -> String {
    texts.map(JSONValue.quoted).joined(separator: ", ")
  }

  /// The feature names of `convert`, for the arrays in the files; states come last.
  private static func names(_ kind: String, _ features: [FeatureDescription]) -> String {
    let names = features.filter { if case .string = $0.type?.kind { false } else { true } }
    let all = names.map(\.name).isEmpty ? ["\(kind.lowercased())1"] : names.map(\.name)
    return "\(kind)_NAMES = [\(list(all))]\n"
  }

  private static func title(_ framework: RecordingFramework) -> String {
    let (name, install) =
      switch framework {
      case .keras1: ("Keras 1", keras1Remedy)
      case .keras: ("Keras", "python3 -m pip install tensorflow tf_keras pillow")
      case .caffe, .coreML: ("Caffe", "pycaffe, which is part of Caffe")
      }
    let recipe = framework == .caffe ? "" : " --recipe keras-load-img"
    return #"""
      """Writes what \#(name) computes: inputs.npz, expected.npz (the outputs) and layers.npz.

          python3 record.py
          assay diff MODEL.mlmodel IMAGE\#(recipe) --expected expected.npz --layers layers.npz

      That is for a model that takes images and prepares their pixels itself. For one that takes
      arrays, inputs.npz holds what `prepare` makes of them:

          assay diff MODEL.mlmodel inputs.npz --expected expected.npz --layers layers.npz

      It needs: \#(install)
      """
      """#
  }

  private static func prepare(_ example: String) -> String {
    RecordingScriptParts.prepare.replacing("@EXAMPLE@", with: "such as " + example) + "\n"
  }

  private static var caffe: [String] {
    [
      "import io\nimport zipfile\n\nimport caffe\nimport numpy as np",
      prepare("image[:, :, ::-1] - [104, 117, 123]: BGR minus the mean"),
      RecordingScriptParts.readForCaffe + "\n", RecordingScriptParts.readAll + "\n",
      RecordingScriptParts.save + "\n", RecordingScriptParts.caffe,
    ]
  }

  private static func eager(hasWeights: Bool, isThird: Bool, hasLambdas: Bool) -> [String] {
    [
      EagerKerasScript.modules, prepare("image / 127.5 - 1"),
      (hasLambdas ? EagerKerasScript.lambdas + "\n\n\n" : "")
        + EagerKerasScript.open
        .replacing("@LAMBDAS@", with: hasLambdas ? EagerKerasScript.useLambdas : "")
        .replacing(
          "@LOAD@",
          with: hasWeights ? EagerKerasScript.loadArchitecture : EagerKerasScript.loadModel
        )
        .replacing(
          "@REMEDY@",
          with: isThird
            ? "Install that version or a later one: python3 -m pip install --upgrade tensorflow keras"
            : "Keras 3 reads only some networks of Keras 2, and an old Keras none of a newer one. "
              + "Install Keras 2: python3 -m pip install --upgrade tensorflow tf_keras") + "\n",
      RecordingScriptParts.read.replacing(
        "@LOAD@",
        with: """
          images = keras.utils if hasattr(keras.utils, "load_img") else keras.preprocessing.image
              if not importlib.util.find_spec("PIL"):
                  sys.exit(path + " is an image, which Keras reads with Pillow: python3 -m pip install pillow")
              image = images.load_img(
                  path, color_mode="grayscale" if 1 in (shape[-1], shape[1] if first else 0) else "rgb",
                  target_size=None if None in size else size)
              array = images.img_to_array(image, data_format="channels_last")
          """) + "\n",
      RecordingScriptParts.readAll + "\n", RecordingScriptParts.save + "\n",
      EagerKerasScript.run + "\n", EagerKerasScript.end,
    ]
  }

  private static let keras1Remedy =
    "python3 -m pip install keras==1.2.2 theano-pymc==1.1.2 'numpy<1.24' h5py pillow"

  private static func keras1(hasWeights: Bool) -> [String] {
    [
      """
      import io
      import sys
      import zipfile

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
      RecordingScriptParts.readAll + "\n", RecordingScriptParts.save + "\n",
      SymbolicKerasScript.run + "\n",
      SymbolicKerasScript.end.replacing(
        "@OPEN@",
        with: hasWeights
          ? "model_from_json(open(MODEL).read())\nmodel.load_weights(WEIGHTS)" : "load_model(MODEL)"
      ).replacing("@REMEDY@", with: "Install Keras 1: " + keras1Remedy),
    ]
  }
}
