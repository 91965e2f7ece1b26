import CAssayPlugin
import CoreML
import Foundation

extension assay_parameter {
  /// The value as Core ML passes it: a number as `NSNumber`, text as `String`.
  var value: Any {
    switch type {
    case Int32(ASSAY_DOUBLE): Self.number(number)
    case Int32(ASSAY_INT): NSNumber(value: Int32(truncatingIfNeeded: integer))
    case Int32(ASSAY_LONG): NSNumber(value: integer)
    case Int32(ASSAY_BOOL): NSNumber(value: integer != 0)
    default:
      String(
        decoding: UnsafeRawBufferPointer(start: string, count: string == nil ? 0 : byte_count),
        as: UTF8.self)
    }
  }

  /// Layers compute with floats, and many read a number with `as? Float`. On Linux, that is nil for
  /// a double that is not exactly a float, such as 0.01, and the layer would use its default. Such
  /// a number is therefore rounded to the nearest float.
  private static func number(_ value: Double) -> NSNumber {
    #if os(Linux)
      NSNumber(value: Float(value))
    #else
      NSNumber(value: value)
    #endif
  }
}

extension assay_shape {
  var numbers: [NSNumber] {
    withUnsafeBytes(of: sizes) { bytes in
      bytes.bindMemory(to: Int64.self).prefix(min(rank, Int(ASSAY_MAX_RANK)))
        .map { NSNumber(value: $0) }
    }
  }

  init(_ numbers: [NSNumber]) throws {
    self.init()
    guard numbers.count <= Int(ASSAY_MAX_RANK) else {
      throw ShapeError(description: "a shape of \(numbers.count) axes: \(numbers)")
    }
    rank = numbers.count
    withUnsafeMutableBytes(of: &sizes) { bytes in
      let sizes = bytes.bindMemory(to: Int64.self)
      for (axis, number) in numbers.enumerated() { sizes[axis] = number.int64Value }
    }
  }
}

private struct ShapeError: Error, CustomStringConvertible { let description: String }
