import CoreML
import Foundation

/// Copies a matrix and makes mistakes on purpose: it counts the columns from 1. Where it is given
/// parameters, it refuses with what it has seen of them.
final class Echo: NSObject, MLCustomLayer {
  struct Seen: Error, CustomStringConvertible {
    let description: String
  }

  required init(parameters: [String: Any]) throws {
    super.init()
    guard parameters.count > 1 else { return }
    let seen = parameters.sorted { $0.key < $1.key }.map { key, value -> String in
      if key == "bool" { return "bool Bool \(value as? Bool as Any? ?? "nil")" }
      if let text = value as? String { return "\(key) String \(text)" }
      guard value is NSNumber else { return "\(key) \(type(of: value))" }
      if let whole = value as? Int { return "\(key) Int \(whole)" }
      return "\(key) Float \(value as? Float as Any? ?? "nil")"
    }
    throw Seen(description: seen.joined(separator: ", "))
  }

  func setWeightData(_ weights: [Data]) throws {}

  func outputShapes(forInputShapes inputShapes: [[NSNumber]]) throws -> [[NSNumber]] {
    inputShapes
  }

  func evaluate(inputs: [MLMultiArray], outputs: [MLMultiArray]) throws {
    let (rows, columns) = (inputs[0].shape[0].intValue, inputs[0].shape[1].intValue)
    for y in 0..<rows {
      for x in 1...columns {
        outputs[0][[y, x] as [NSNumber]] = inputs[0][[y, x] as [NSNumber]]
      }
    }
  }
}
