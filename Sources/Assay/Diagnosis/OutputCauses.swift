import CoreMLModel
import LibC
import ModelPrediction
import TensorCore

extension DiagnosisSubject {
  /// How the expected values may relate to the outputs; no cause needs another prediction.
  var outputCauses: [Cause] { functionCauses + orderCauses + layoutCauses + otherBlobCauses }

  private var functionCauses: [Cause] {
    func output(_ summary: String, _ change: @escaping @Sendable ([Float]) -> [Float]) -> Cause {
      Cause(.outputs, summary) { trial in
        trial.output.append { [differing] name, value in
          differing.contains(name) ? value.mapRows(change) : value
        }
        return true
      }
    }
    func expected(_ summary: String, _ change: @escaping @Sendable ([Float]) -> [Float]) -> Cause {
      Cause(.outputs, summary) { $0.changeExpected(differing) { $0.mapRows(change) } }
    }
    let isNormalized = trial.expected.values.allSatisfy { $0.rows().allSatisfy(\.isDistribution) }
    return [
      output("the model lacks the final softmax", softmax),
      expected(
        isNormalized
          ? "the model applies softmax twice"
          : "the expected values are logits, and the model ends with a softmax", softmax),
      output("the expected values are logarithms of the outputs") { $0.map { log($0) } },
      output("the expected values are the outputs' exponentials") { $0.map { exp($0) } },
      output("the model lacks the final sigmoid", sigmoid),
      expected("the expected values lack the final sigmoid of the model", sigmoid),
      expected("the outputs are images of 0 to 255, the expected values of 0 to 1") {
        $0.map { $0 * 255 }
      },
      expected("the outputs are images of 0 to 1, the expected values of 0 to 255") {
        $0.map { $0 / 255 }
      },
      expected("the expected images are from −1 to 1, the outputs from 0 to 255") {
        $0.map { ($0 + 1) * 127.5 }
      },
    ]
  }

  /// The same values in another order.
  private var orderCauses: [Cause] {
    var causes: [Cause] = []
    for output in prediction.outputs {
      guard let expected = trial.expected[output.name], expected.count == output.value.count,
        case let rows = zip(output.value.rows(), expected.rows()),
        let (actual, wanted) = rows.first(where: { $0.0.count > 1 }),
        let order = ClassOrder(actual, wanted)
      else { continue }
      causes.append(
        Cause(
          .outputs, "the classes of '\(output.name)' are in another order: " + order.summary,
          remedy: "pass \(setting: "labels") with the labels in the order used in training"
        ) { trial in
          trial.output.append { name, value in
            name == output.name ? value.mapRows { order.applied($0) } : value
          }
          return true
        })
    }
    for axis in 0..<2 {
      causes.append(
        Cause(
          .outputs,
          axis == 0
            ? "the items of the batch or the time steps are in reverse order"
            : "the time steps are in reverse order"
        ) { trial in
          trial.changeExpected(differing) { $0.shape.count > axis + 1 ? $0.reversed(axis) : $0 }
        })
    }
    causes.append(
      Cause(.outputs, "the colors of the expected image are in the other order (BGR for RGB)") {
        trial in
        trial.changeExpected(differing) {
          $0.shape.last == 3 && $0.shape.count > 2 ? $0.reversed($0.shape.count - 1) : $0
        }
      })
    return causes
  }

  /// Axes that were confused.
  private var layoutCauses: [Cause] {
    let orders: [(summary: String, axes: [Int])] = [
      ("the expected values have channels first, the outputs last", [1, 2, 0]),
      ("the expected values have channels last, the outputs first", [2, 0, 1]),
      ("height and width of the expected values are swapped", [1, 0, 2]),
      ("the last two axes of the expected values are swapped", [0, 2, 1]),
      ("all axes of the expected values are in reverse order", [2, 1, 0]),
    ]
    return orders.map { order in
      Cause(
        .outputs, order.summary,
        remedy: order.axes == [1, 0, 2]
          ? nil : "transpose the arrays, or pass \(setting: "layout") coreml"
      ) { trial in
        guard trial.expected.values.contains(where: { $0.shape.filter { $0 > 1 }.count > 1 }) else {
          return false
        }
        return trial.changeExpected(differing) { $0.withLastAxes(order.axes) }
      }
    } + [
      Cause(.outputs, "height and width of the expected matrix are swapped") { trial in
        trial.changeExpected(differing) { expected in
          let sizes = expected.shape.filter { $0 > 1 }
          return sizes.count == 2
            ? expected.reshaped(sizes).transposed([1, 0]).reshaped(expected.shape) : expected
        }
      }
    ]
  }

  /// Values of other layers, or of other outputs.
  private var otherBlobCauses: [Cause] {
    let names = differing.sorted()
    let others = names.map { name in
      prediction.outputs.filter { other in
        guard other.name != name, let expected = trial.expected[name] else { return false }
        return other.value.count == expected.count && other.value.isNear(expected)
      }
    }
    // The causes pair each differing output with its first, second or third matching blob.
    let count = min(3, others.map(\.count).max() ?? 0)
    guard others.allSatisfy({ !$0.isEmpty }) else { return [] }
    return (0..<count).map { choice in
      let chosen = others.map { $0[min(choice, $0.count - 1)] }
      let isBlob = chosen.contains { if case .blob = $0.kind { true } else { false } }
      let values = Dictionary(first: zip(names, chosen.map(\.value)))
      return Cause(
        .outputs,
        zip(names, chosen).map { name, other in
          let kind = if case .blob = other.kind { "blob" } else { "output" }
          return "the expected values of '\(name)' are those of \(kind) '\(other.name)'"
        }.joined(separator: ", "),
        remedy: isBlob
          ? "compare with the framework's values for "
            + names.map { "'\($0)'" }.joined(separator: ", ") + ", or pass \(setting: "layers")"
          : "name the arrays by the outputs"
      ) { trial in
        let expected = trial.expected
        trial.output.append { name, own in
          guard let value = values[name], let shape = expected[name]?.shape else { return own }
          return value.reshaped(shape)
        }
        return true
      }
    }
  }
}

extension Trial {
  /// Changes the expected values of the outputs `names`.
  fileprivate mutating func changeExpected(
    _ names: Set<String>, _ change: (Tensor) -> Tensor
  ) -> Bool {
    var changed = expected
    for name in names { changed[name] = changed[name].map(change) }
    guard changed != expected else { return false }
    expected = changed
    return true
  }
}

/// A permutation that turns predicted scores into the expected ones.
private struct ClassOrder {
  /// For each expected place, the predicted one.
  let positions: [Int]

  /// Nil unless the scores differ only in their order.
  init?(_ actual: [Float], _ expected: [Float]) {
    func order(_ scores: [Float]) -> [Int] {
      scores.indices.sorted { (scores[$0], $0) < (scores[$1], $1) }
    }
    let (a, b) = (order(actual), order(expected))
    let largest = expected.reduce(0) { max($0, abs($1)) }
    guard actual.count > 2, largest.isFinite,
      zip(a, b).allSatisfy({ abs(actual[$0] - expected[$1]) <= 1e-5 * max(largest, 1e-3) })
    else { return nil }
    var positions = [Int](repeating: 0, count: a.count)
    for (from, to) in zip(a, b) { positions[to] = from }
    guard positions != Array(positions.indices) else { return nil }
    self.positions = positions
  }

  func applied(_ row: [Float]) -> [Float] {
    row.count == positions.count ? positions.map { row[$0] } : row
  }

  var summary: String {
    if positions == positions.indices.reversed() { return "reversed" }
    let names = positions.indices.map(String.init).sorted()
    if positions == names.compactMap({ Int($0) }) || positions == Self.inverse(names) {
      return "one side sorted the numbers as text: 0, 1, 10, 11, …"
    }
    let moved = positions.indices.filter { positions[$0] != $0 }.prefix(4)
    return "expected class "
      + moved.map { "\($0) is class \(positions[$0])" }.joined(separator: ", ")
      + (positions.indices.filter { positions[$0] != $0 }.count > 4 ? ", …" : "")
  }

  private static func inverse(_ names: [String]) -> [Int] {
    var result = [Int](repeating: 0, count: names.count)
    for (position, name) in names.enumerated() {
      if let number = Int(name) { result[number] = position }
    }
    return result
  }
}

@Sendable private func softmax(_ row: [Float]) -> [Float] {
  LinkFunction.softmax(row.map(Double.init)).map { Float($0) }
}

@Sendable private func sigmoid(_ row: [Float]) -> [Float] {
  row.map { Float(LinkFunction.logistic(Double($0))) }
}

extension [Float] {
  /// Whether they are probabilities that add up to 1.
  fileprivate var isDistribution: Bool { allSatisfy { $0 >= 0 } && abs(reduce(0, +) - 1) < 1e-3 }
}
