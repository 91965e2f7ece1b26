import CoreML
import Foundation

/// An error in a layer.
enum LayerFault: Error {
  case parameter(String)
  case weights(String)
  case shape([[Int]])
  case dataType(MLMultiArrayDataType)
  case kernel(String)
}

/// The parameters of a layer, each found by any of its names.
struct LayerParameters {
  private let values: [String: Any]

  init(_ values: [String: Any]) { self.values = values }

  private func find<Value>(_ names: [String], _ read: (Any) -> Value?) throws -> Value? {
    for name in names {
      guard let value = values[name] else { continue }
      guard let result = read(value) else { throw LayerFault.parameter(name) }
      return result
    }
    return nil
  }

  func int(_ names: String..., in range: ClosedRange<Int>) throws -> Int? {
    try find(names) { value in
      (value as? NSNumber).flatMap { Int(exactly: $0.doubleValue) }
        .flatMap { range.contains($0) ? $0 : nil }
    }
  }

  func required(_ name: String, in range: ClosedRange<Int>) throws -> Int {
    guard let value = try int(name, in: range) else { throw LayerFault.parameter(name) }
    return value
  }

  func float(_ names: String...) throws -> Float? {
    try find(names) { ($0 as? NSNumber)?.floatValue }
  }

  func bool(_ names: String...) throws -> Bool? { try find(names) { ($0 as? NSNumber)?.boolValue } }

  func text(_ name: String) throws -> String? { try find([name]) { $0 as? String } }

  /// One of several words, or its index.
  func choice(_ names: String..., of words: [String]) throws -> String? {
    try find(names) { value in
      if let text = value as? String { return words.contains(text) ? text : nil }
      guard let index = (value as? NSNumber)?.intValue, words.indices.contains(index) else {
        return nil
      }
      return words[index]
    }
  }
}

enum LayerWeights {
  /// The weights as floats.
  ///
  /// - Parameter halfPrecision: the sizes in bytes of the weights that the model stores as half
  ///   floats, by index.
  static func floats(
    _ weights: [Data], _ counts: ClosedRange<Int>, halfPrecision: [Int: Set<Int>]
  ) throws -> [[Float]] {
    guard counts.contains(weights.count) else { throw LayerFault.weights("\(weights.count)") }
    return weights.enumerated().map { position, data in
      halfPrecision[position]?.contains(data.count) ?? false
        ? values(data, 0 as UInt16).map { Float(Float16(bitPattern: $0)) } : values(data, 0)
    }
  }

  private static func values<Value>(_ data: Data, _ zero: Value) -> [Value] {
    var values = [Value](repeating: zero, count: data.count / MemoryLayout<Value>.size)
    _ = values.withUnsafeMutableBytes { data.copyBytes(to: $0) }
    return values
  }
}

enum LayerShapes {
  /// The shapes of the outputs, which `body` computes from those of the inputs.
  static func outputs(
    _ shapes: [[NSNumber]], inputs: ClosedRange<Int> = 1...1, _ body: ([[Int]]) throws -> [[Int]]
  ) throws -> [[NSNumber]] {
    let sizes = shapes.map { $0.map { $0.intValue } }
    guard inputs.contains(sizes.count) else { throw LayerFault.shape(sizes) }
    return try body(sizes).map { $0.map { NSNumber(value: $0) } }
  }
}

extension PlaneShape {
  /// - Throws: if `shape` has no axes for C, H and W.
  init(planes shape: [Int]) throws {
    guard shape.count >= 3 else { throw LayerFault.shape([shape]) }
    self.init(shape)
  }
}

extension MLMultiArray {
  /// The sizes of the axes.
  var sizes: [Int] { shape.map { $0.intValue } }

  /// The elements, which must be dense 32-bit floats.
  func floats() throws -> UnsafeMutablePointer<Float> {
    guard dataType == .float32 else { throw LayerFault.dataType(dataType) }
    var stride = 1
    for (size, step) in zip(sizes, strides).reversed() {
      guard size == 1 || step.intValue == stride else { throw LayerFault.shape([sizes]) }
      stride *= size
    }
    return dataPointer.assumingMemoryBound(to: Float.self)
  }
}
