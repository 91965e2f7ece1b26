import Foundation

/// What a prediction takes and gives, by name.
public protocol MLFeatureProvider {
  /// The names of the values.
  var featureNames: Set<String> { get }
  /// The value with a name; nil if there is none.
  func featureValue(for featureName: String) -> MLFeatureValue?
}

/// Pixels in the format of the system, four bytes each, or one.
public final class CVPixelBuffer: @unchecked Sendable {
  /// Pixels of a row.
  public let width: Int
  /// Rows.
  public let height: Int
  /// Row by row.
  public var bytes: [UInt8]

  /// An image with these bytes.
  public init(width: Int, height: Int, bytes: [UInt8]) {
    (self.width, self.height, self.bytes) = (width, height, bytes)
  }
}

// swift-format-ignore: AlwaysUseLowerCamelCase
/// Alpha, red, green and blue.
public let kCVPixelFormatType_32ARGB: UInt32 = 0x20
// swift-format-ignore: AlwaysUseLowerCamelCase
/// Blue, green, red and alpha.
public let kCVPixelFormatType_32BGRA: UInt32 = 0x4247_5241
// swift-format-ignore: AlwaysUseLowerCamelCase
/// Gray.
public let kCVPixelFormatType_OneComponent8: UInt32 = 0x4C30_3038

/// An image in memory, which only Apple's systems have.
public final class CGImage: Sendable {}

/// One value.
public final class MLFeatureValue: @unchecked Sendable {
  /// An integer.
  public let int64Value: Int64
  /// A number.
  public let doubleValue: Double
  /// A text.
  public let stringValue: String
  /// An array.
  public let multiArrayValue: MLMultiArray?
  /// An image.
  public let imageBufferValue: CVPixelBuffer?
  /// Numbers by key.
  public let dictionaryValue: [AnyHashable: NSNumber]

  private init(
    int64: Int64 = 0, double: Double = 0, string: String = "", array: MLMultiArray? = nil,
    image: CVPixelBuffer? = nil, dictionary: [AnyHashable: NSNumber] = [:]
  ) {
    (int64Value, doubleValue, stringValue) = (int64, double, string)
    (multiArrayValue, imageBufferValue, dictionaryValue) = (array, image, dictionary)
  }

  /// An integer.
  public convenience init(int64 value: Int64) { self.init(int64: value, double: Double(value)) }
  /// A number.
  public convenience init(double value: Double) { self.init(double: value, string: "") }
  /// A text.
  public convenience init(string value: String) { self.init(int64: 0, string: value) }
  /// An array.
  public convenience init(multiArray value: MLMultiArray) { self.init(int64: 0, array: value) }
  /// An image.
  public convenience init(pixelBuffer value: CVPixelBuffer) { self.init(int64: 0, image: value) }

  /// Numbers by key.
  public convenience init(dictionary value: [AnyHashable: NSNumber]) throws {
    self.init(int64: 0, dictionary: value)
  }

  /// Only Apple's systems decode images here: pass a `CVPixelBuffer`.
  public convenience init(
    imageAt url: URL, pixelsWide: Int, pixelsHigh: Int, pixelFormatType: UInt32,
    options: [String: Any]?
  ) throws { throw MLModelError(description: "pass a CVPixelBuffer instead of a file") }

  /// Only Apple's systems have such images: pass a `CVPixelBuffer`.
  public convenience init(
    cgImage: CGImage, pixelsWide: Int, pixelsHigh: Int, pixelFormatType: UInt32,
    options: [String: Any]?
  ) throws { throw MLModelError(description: "pass a CVPixelBuffer instead of a CGImage") }
}

/// Values by name.
public final class MLDictionaryFeatureProvider: MLFeatureProvider {
  private let values: [String: MLFeatureValue]

  /// - Throws: `MLModelError` if a value is not an `MLFeatureValue`.
  public init(dictionary: [String: Any]) throws {
    values = dictionary.compactMapValues { $0 as? MLFeatureValue }
    guard values.count == dictionary.count else {
      throw MLModelError(description: "every value must be an MLFeatureValue")
    }
  }

  /// The names of the values.
  public var featureNames: Set<String> { Set(values.keys) }
  /// The value with a name; nil if there is none.
  public func featureValue(for featureName: String) -> MLFeatureValue? { values[featureName] }
}

/// The values of several predictions.
public protocol MLBatchProvider {
  /// How many predictions there are.
  var count: Int { get }
  /// The values of one.
  func features(at index: Int) -> any MLFeatureProvider
}

/// An array of the values of several predictions.
public final class MLArrayBatchProvider: MLBatchProvider {
  /// The values of each.
  public let array: [any MLFeatureProvider]
  /// Several predictions.
  public init(array: [any MLFeatureProvider]) { self.array = array }
  /// How many predictions there are.
  public var count: Int { array.count }
  /// The values of one.
  public func features(at index: Int) -> any MLFeatureProvider { array[index] }
}

/// Settings of Apple's system, of which there are none here.
public final class MLModelConfiguration: @unchecked Sendable {
  /// The standard settings.
  public init() {}
}
/// Settings of Apple's system, of which there are none here.
public final class MLPredictionOptions: @unchecked Sendable {
  /// The standard settings.
  public init() {}
}

/// A model whose predictions `MLModel.predict` computes.
public final class MLModel: @unchecked Sendable {
  /// Returns the outputs for the inputs of the model in a file. Core ML computes them on Apple's
  /// systems; elsewhere a program sets this before the first prediction.
  nonisolated(unsafe) public static var predict:
    (URL, any MLFeatureProvider) throws -> any MLFeatureProvider = { _, _ in
      throw MLModelError(description: "set MLModel.predict before the first prediction")
    }
  private let url: URL

  /// The model in a file, which is read by the prediction.
  public init(contentsOf url: URL) throws { self.url = url }

  /// The same.
  public convenience init(contentsOf url: URL, configuration: MLModelConfiguration) throws {
    try self.init(contentsOf: url)
  }

  /// The same, loaded in the background.
  public static func load(
    contentsOf url: URL, configuration: MLModelConfiguration,
    completionHandler handler: @escaping (Swift.Result<MLModel, any Error>) -> Void
  ) { handler(Swift.Result { try MLModel(contentsOf: url, configuration: configuration) }) }

  /// The same, loaded in the background.
  public static func load(
    contentsOf url: URL, configuration: MLModelConfiguration
  ) async throws -> MLModel { try MLModel(contentsOf: url, configuration: configuration) }

  /// The outputs for the inputs.
  public func prediction(
    from input: any MLFeatureProvider, options: MLPredictionOptions
  ) throws -> any MLFeatureProvider { try Self.predict(url, input) }

  /// The outputs for the inputs.
  public func prediction(
    from input: any MLFeatureProvider, options: MLPredictionOptions
  ) async throws -> any MLFeatureProvider { try Self.predict(url, input) }

  /// The outputs of each prediction.
  public func predictions(
    from batch: any MLBatchProvider, options: MLPredictionOptions
  ) throws -> any MLBatchProvider {
    MLArrayBatchProvider(
      array: try (0..<batch.count).map { try Self.predict(url, batch.features(at: $0)) })
  }
}

/// The elements of an array with its shape.
public struct MLShapedArray<Scalar: MLShapedArrayScalar> {
  /// Sizes of the axes.
  public let shape: [Int]
  /// The elements, those of the last axis next to each other.
  public let scalars: [Scalar]

  /// An array with these elements.
  public init(scalars: some Sequence<Scalar>, shape: [Int]) {
    (self.scalars, self.shape) = (Array(scalars), shape)
  }

  /// A copy of an array.
  public init(_ array: MLMultiArray) {
    shape = array.shape.map(\.intValue)
    scalars = (0..<array.count).map { index in
      let number = array[index]
      return switch Scalar.self {
      case is Double.Type: number.doubleValue as! Scalar
      case is Int32.Type: number.int32Value as! Scalar
      case is Float16.Type: Float16(number.floatValue) as! Scalar
      default: number.floatValue as! Scalar
      }
    }
  }
}

extension MLMultiArray {
  /// A copy of an array.
  public convenience init<Scalar: MLShapedArrayScalar>(_ array: MLShapedArray<Scalar>) {
    let type: MLMultiArrayDataType =
      switch Scalar.self {
      case is Double.Type: .double
      case is Int32.Type: .int32
      case is Float16.Type: .float16
      default: .float32
      }
    do {
      try self.init(shape: array.shape.map { NSNumber(value: $0) }, dataType: type)
    } catch { preconditionFailure("a shaped array has a shape that no array can have") }
    for (index, scalar) in array.scalars.enumerated() {
      switch scalar {
      case let value as Double: self[index] = NSNumber(value: value)
      case let value as Int32: self[index] = NSNumber(value: value)
      case let value as Float16: self[index] = NSNumber(value: Float(value))
      case let value as Float: self[index] = NSNumber(value: value)
      default: break
      }
    }
  }
}
