/// The type of an array's elements, with Core ML's numbers.
public enum MLMultiArrayDataType: Int, Sendable {
  /// 64-bit floats.
  case double = 0x10040
  /// 32-bit floats.
  case float32 = 0x10020
  /// 16-bit floats.
  case float16 = 0x10010
  /// 32-bit integers.
  case int32 = 0x20020

  /// The same as `double`.
  public static var float64: MLMultiArrayDataType { .double }
  /// The same as `float32`.
  public static var float: MLMultiArrayDataType { .float32 }

  var byteCount: Int {
    switch self {
    case .double: 8
    case .float32, .int32: 4
    case .float16: 2
    }
  }
}

/// A type that an array may be read and written as.
public protocol MLShapedArrayScalar: BitwiseCopyable {}
extension Double: MLShapedArrayScalar {}
extension Float: MLShapedArrayScalar {}
extension Float16: MLShapedArrayScalar {}
extension Int32: MLShapedArrayScalar {}

/// An array that cannot be.
public struct MLModelError: Error, CustomStringConvertible {
  /// What is wrong with it.
  public let description: String
}
