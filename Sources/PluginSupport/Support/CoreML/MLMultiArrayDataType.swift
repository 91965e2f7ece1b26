/// The type of an array's elements, with Core ML's numbers.
public enum MLMultiArrayDataType: Int, Sendable {
  case double = 0x10040
  case float32 = 0x10020
  case float16 = 0x10010
  case int32 = 0x20020

  public static var float64: MLMultiArrayDataType { .double }
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

public struct MLModelError: Error, CustomStringConvertible {
  public let description: String
}
