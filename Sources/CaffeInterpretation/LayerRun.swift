import CaffeFormat
import Interpretation
import TensorCore

/// A layer with its input values.
struct LayerRun {
  let file: String
  let name: String
  let type: String
  /// The complete `LayerParameter`.
  let message: CaffeMessage
  let bottoms: [DoubleArray]
  let topCount: Int
  /// Its weights, in Caffe's order.
  let weights: [CaffeBlob]

  /// The first bottom; the operation declares how many are required.
  var input: DoubleArray { bottoms[0] }

  /// The settings in field `name`, such as `convolution_param`; missing fields have the schema's
  /// defaults.
  func settings(_ name: String) -> CaffeSettings { CaffeSettings(self, message).message(name) }

  func fault(_ message: String) -> ModelError {
    ModelError(.malformed, message, file: file, layer: name, layerClass: type)
  }

  func require(_ condition: Bool, _ message: @autoclosure () -> String) throws {
    if !condition { throw fault(message()) }
  }

  func missing(_ message: String) -> InterpretationError {
    InterpretationError(file: file, layer: name, layerClass: type, message)
  }

  /// The axis in a setting; negative values count from the end.
  func axis(_ index: Int, of array: DoubleArray) throws -> Int {
    let axis = try array.axis(index).orThrow(fault("axis \(index) of \(array.shape)"))
    return axis
  }

  /// A weight in the given shape.
  func weight(_ index: Int, shape: [Int]) throws -> DoubleArray {
    let values = try rawWeight(index, count: checkedProduct(shape, limit: Limits.tensorElements))
    // blob.cpp, `ShapeEquals`; forks also store vectors with additional axes of length 1.
    let sizes = [weights[index].shape, shape].map { $0.filter { $0 != 1 } }
    try require(sizes[0] == sizes[1], "weight \(index) is \(weights[index].shape), not \(shape)")
    return try DoubleArray(shape: shape, values.array().map(Double.init))
  }

  /// A weight in its stored shape.
  func rawWeight(_ index: Int, count: Int) throws -> FloatValues {
    guard weights.indices.contains(index) else {
      throw fault("weight \(index) is missing in the weights file")
    }
    let values = try weights[index].values()
    try require(values.count == count, "weight \(index) has \(values.count) values, not \(count)")
    return values
  }
}

/// The settings of a layer, such as its `convolution_param`.
struct CaffeSettings {
  let layer: LayerRun
  let fields: CaffeMessage?

  init(_ layer: LayerRun, _ fields: CaffeMessage?) {
    self.layer = layer
    self.fields = fields
  }

  func has(_ field: String) -> Bool { fields?.has(field) ?? false }

  func message(_ field: String) -> CaffeSettings {
    CaffeSettings(layer, fields.map { $0.messageOrDefaults(field) })
  }

  /// - Parameter standard: the default if the schema lacks the field.
  func int(_ field: String, default standard: Int? = nil) throws -> Int {
    let value = try scalar(field, standard, fields?.integer(field))
    try layer.require(abs(value) <= Limits.dimension, "\(field) is \(value)")
    return value
  }

  /// A number of at least 1.
  func size(_ field: String, default standard: Int? = nil) throws -> Int {
    let value = try int(field, default: standard)
    try layer.require(value >= 1, "\(field) is \(value)")
    return value
  }

  func number(_ field: String, default standard: Double? = nil) throws -> Double {
    try scalar(field, standard, fields?.number(field))
  }

  func bool(_ field: String, default standard: Bool? = nil) throws -> Bool {
    try scalar(field, standard, fields?.bool(field))
  }

  func string(_ field: String, default standard: String? = nil) throws -> String {
    try scalar(field, standard, fields?.string(field))
  }

  func symbol(_ field: String, default standard: String? = nil) throws -> String {
    try scalar(field, standard, fields?.symbol(field))
  }

  /// All values of a repeated field.
  func ints(_ field: String) throws -> [Int] {
    try numbers(field).map { number in
      guard let value = Int(exactly: number), abs(value) <= Limits.dimension else {
        throw layer.fault("\(field) is \(number)")
      }
      return value
    }
  }

  func numbers(_ field: String) throws -> [Double] {
    guard let fields, fields.has(field) else { return [] }
    return try fields.values(field).flatMap { value in
      guard let numbers = value.numbers else { throw layer.fault("\(field) is \(value.text)") }
      return numbers
    }
  }

  /// Sizes along `count` axes: one number for all axes, one per axis, or, for two axes, `NAME_h`
  /// and `NAME_w`, each with the default if missing.
  func sizes(
    _ field: String, named name: String? = nil, count: Int = 2, default standard: Int?,
    atLeast least: Int = 0
  ) throws -> [Int] {
    let name = name ?? field
    var values: [Int]
    if count == 2, has("\(name)_h") || has("\(name)_w") {
      values = try ["\(name)_h", "\(name)_w"].map {
        if has($0) { return try int($0) }
        guard let standard else { throw layer.fault("\($0) is missing") }
        return standard
      }
    } else {
      values = try ints(field)
      if values.isEmpty, let standard { values = [standard] }
      if values.count == 1 { values = [Int](repeating: values[0], count: count) }
    }
    try layer.require(
      values.count == count && values.allSatisfy { $0 >= least }, "\(field) is \(values)")
    return values
  }

  private func scalar<Value>(_ field: String, _ standard: Value?, _ value: Value?) throws -> Value {
    if let standard, !has(field) { return standard }
    guard let value else { throw layer.fault("\(field) is missing") }
    return value
  }
}
