import CoreMLModel
import ImportSupport
import TensorCore
import TestSupport

@testable import CaffeFormat
@testable import CaffeImport

func parsed(_ text: String) throws -> CaffeMessage {
  var parser = try TextParser(Array(text.utf8))
  return try parser.parse(.network)
}

/// A network's text, and optionally text for its weights: layers with `blobs { shape { … } data:
/// […] }`.
func source(_ text: String, weights: String? = nil) throws -> CaffeSource {
  try CaffeSource(
    path: "net.prototxt", text: Bytes(Array(text.utf8)),
    weights: weights.map { try CaffeWeights(path: "net.caffemodel", network: parsed($0)) })
}

/// The parts of a converted network.
struct Converted {
  let result: ConversionResult

  var layers: [NeuralNetworkLayer] { result.model.neuralNetwork?.layers ?? [] }
  var names: [String] { layers.map(\.name) }
  var types: [String] { layers.map { $0.parameters.map { type(of: $0).typeName } ?? "" } }
  var inputs: [String] { result.model.description?.input.map(\.name) ?? [] }
  var outputs: [String] { result.model.description?.output.map(\.name) ?? [] }
  var notes: [String] { result.notes }

  func layer<Parameters: LayerParameters>(_ name: String, as type: Parameters.Type) -> Parameters? {
    layers.first { $0.name == name }?.parameters as? Parameters
  }

  func inputShape(_ name: String) -> [Int]? { shape(result.model.description?.input, name) }
  func outputShape(_ name: String) -> [Int]? { shape(result.model.description?.output, name) }

  private func shape(_ features: [FeatureDescription]?, _ name: String) -> [Int]? {
    guard case .multiArray(let array)? = features?.first(where: { $0.name == name })?.type?.kind
    else { return nil }
    return array.shape
  }

  func metadata(_ key: String) -> String? {
    result.model.description?.metadata?.userDefined[key]
  }
}

func convert(
  _ text: String, weights: String? = nil, options: ConversionOptions = ConversionOptions()
) throws -> Converted {
  Converted(result: try CaffeImporter.convert(source(text, weights: weights), options: options))
}

/// An Input layer with the given sizes.
func input(_ name: String, _ shape: Int...) -> String {
  let sizes = shape.map { "dim: \($0)" }.joined(separator: " ")
  return
    "layer { name: '\(name)' type: 'Input' top: '\(name)' input_param { shape { \(sizes) } } }\n"
}

/// A layer with one bottom and one top.
func layer(
  _ name: String, _ type: String, _ bottom: String, _ top: String, _ fields: String = ""
) -> String {
  "layer { name: '\(name)' type: '\(type)' bottom: '\(bottom)' top: '\(top)' \(fields) }\n"
}

/// Protobuf's binary format, written field by field.
struct Wire {
  var bytes: [UInt8] = []

  private mutating func varint(_ value: UInt64) {
    var rest = value
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }

  func integer(_ number: Int, _ value: Int) -> Wire {
    var result = self
    result.varint(UInt64(number) << 3)
    result.varint(UInt64(bitPattern: Int64(value)))
    return result
  }

  func delimited(_ number: Int, _ payload: [UInt8]) -> Wire {
    var result = self
    result.varint(UInt64(number) << 3 | 2)
    result.varint(UInt64(payload.count))
    result.bytes += payload
    return result
  }

  func string(_ number: Int, _ text: String) -> Wire { delimited(number, Array(text.utf8)) }
  func message(_ number: Int, _ inner: Wire) -> Wire { delimited(number, inner.bytes) }

  func packed<Element: BitwiseCopyable>(_ number: Int, _ values: [Element]) -> Wire {
    delimited(number, values.withUnsafeBytes { Array($0) })
  }

  /// One unpacked float.
  func float(_ number: Int, _ value: Float) -> Wire {
    var result = self
    result.varint(UInt64(number) << 3 | 5)
    result.bytes += withUnsafeBytes(of: value.bitPattern.littleEndian) { Array($0) }
    return result
  }
}

let fixtures = Fixtures("caffe")
