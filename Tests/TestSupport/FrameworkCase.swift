import Foundation
import TensorCore

/// An array of a case.
package struct CaseTensor: Decodable, Sendable {
  package var shape: [Int]
  package var values: [Float]

  package init(shape: [Int], values: [Float]) {
    self.shape = shape
    self.values = values
  }
}

/// A layer with inputs and its source framework's outputs, written by
/// `Fixtures/custom-layers/make.py`.
package struct FrameworkCase: Decodable, Sendable, CustomStringConvertible {
  package enum Parameter: Decodable, Sendable {
    case bool(Bool)
    case int(Int32)
    case double(Double)
    case string(String)

    private enum Key: String, CodingKey { case bool, int, double, string }

    package init(from decoder: any Decoder) throws {
      let values = try decoder.container(keyedBy: Key.self)
      if let value = try values.decodeIfPresent(Bool.self, forKey: .bool) {
        self = .bool(value)
      } else if let value = try values.decodeIfPresent(Int32.self, forKey: .int) {
        self = .int(value)
      } else if let value = try values.decodeIfPresent(Double.self, forKey: .double) {
        self = .double(value)
      } else {
        self = .string(try values.decode(String.self, forKey: .string))
      }
    }

    package var value: CustomLayerParameter {
      switch self {
      case .bool(let value): .bool(value)
      case .int(let value): .int(value)
      case .double(let value): .double(value)
      case .string(let value): .string(value)
      }
    }
  }

  private enum CodingKeys: String, CodingKey {
    case name, parameters, weights, inputs, outputs
    case className = "class"
  }

  package var name: String
  package var className: String
  package var parameters: [String: Parameter]
  package var weights: [[Float]]
  package var inputs: [CaseTensor]
  package var outputs: [CaseTensor]

  package var description: String { "\(className), \(name)" }

  package static func all(_ framework: String) -> [FrameworkCase] {
    guard let data = try? Data(Fixtures("custom-layers").bytes(framework + ".json")) else {
      return []
    }
    return (try? JSONDecoder().decode([FrameworkCase].self, from: data)) ?? []
  }

  package var typedParameters: [String: CustomLayerParameter] { parameters.mapValues(\.value) }
}
