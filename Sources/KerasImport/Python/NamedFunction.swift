import ByteFormats
import TensorCore

/// A function that a Lambda refers to by name, without code: a function that many projects define
/// alike, or one of Keras or TensorFlow.
struct NamedFunction {
  let name: String
  let arguments: [String: PythonSymbol]
  /// The path of a function of Keras or TensorFlow.
  private let path: String?

  /// Nil if the name is unknown.
  ///
  /// - Parameter stored: the function's name, with its package if that is not Keras.
  init?(_ stored: String, _ arguments: JSONObject) {
    let name = ActivationFunction.plainName(stored)
    path = StoredIdentity.package(stored) == nil ? Self.path(name) : nil
    guard Self.known[name] != nil || path != nil else { return nil }
    self.name = name
    var values: [String: PythonSymbol] = [:]
    for (name, value) in arguments.members { values[name] = try? PythonSymbol(value) }
    self.arguments = values
  }

  func value(_ input: PythonSymbol, _ machine: PythonMachine) throws -> PythonSymbol {
    if let known = Self.known[name], let result = try known(input, arguments, machine) {
      return result
    }
    guard let path else { throw PythonMachine.unsupported("it is called with unknown arguments") }
    return try machine.call(
      .library(path), [input],
      arguments.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) })
  }

  private static func path(_ name: String) -> String? {
    ["tf.", "tf.image.", "keras.backend.", "keras.ops."].lazy.map { $0 + name }.first {
      PythonSignature.of($0) != nil
    }
  }

  private typealias Known =
    @Sendable (PythonSymbol, [String: PythonSymbol], PythonMachine) throws -> PythonSymbol?

  private static let known: [String: Known] = [
    // image-classifiers
    "slice_tensor": { x, arguments, machine in
      guard let axis = arguments["axis"]?.int, (1...4).contains(axis),
        let start = arguments["start"],
        let stop = arguments["stop"]
      else { return nil }
      let whole = PythonSymbol.slice(.none, .none, .none)
      return try machine.element(
        .tuple([PythonSymbol](repeating: whole, count: axis) + [.slice(start, stop, .none)]), of: x)
    },
    "expand_dims": { x, arguments, machine in
      guard let argument = arguments["channels_axis"] else { return nil }
      let whole = PythonSymbol.slice(.none, .none, .none)
      switch argument.int {
      case 1: return try machine.element(.tuple([whole, whole, .none, .none]), of: x)
      case 3: return try machine.element(.tuple([whole, .none, .none, whole]), of: x)
      // classification-models-3d
      case 4: return try machine.element(.tuple([whole, .none, .none, .none, whole]), of: x)
      default:
        throw PythonMachine.unsupported(
          "it is called with channels_axis=\(PythonText.text(argument))")
      }
    },
    // YAD2K
    "space_to_depth_x2": { x, _, machine in
      try machine.call(.library("tf.space_to_depth"), [x, .int(2)], [])
    },
    "space_to_depth_x4": { x, _, machine in
      try machine.call(.library("tf.space_to_depth"), [x, .int(4)], [])
    },
    // ShuffleNet
    "channel_shuffle": { x, arguments, machine in
      func sizes(_ sizes: [PythonSymbol]) -> PythonSymbol { .tuple([.int(-1)] + sizes) }
      let shape = try machine.call(.library("keras.backend.int_shape"), [x], [])
      guard let groups = (arguments["groups"] ?? .int(2)).int, groups > 0,
        let shape = shape.elements, shape.count == 4, let channels = shape[3].int,
        channels % groups == 0
      else { return nil }
      let split = try machine.call(
        .library("tf.reshape"),
        [x, sizes([shape[1], shape[2], .int(groups), .int(channels / groups)])], [])
      let transposed = try machine.call(
        .library("tf.transpose"), [split, .tuple([0, 1, 2, 4, 3].map { .int($0) })], [])
      return try machine.call(.library("tf.reshape"), [transposed, sizes(Array(shape[1...]))], [])
    },
  ]
}
