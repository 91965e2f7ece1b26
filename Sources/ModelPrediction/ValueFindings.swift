import CoreMLModel
import Engine
import TensorCore

/// A check for numbers that a feature should not have, and the reason.
private struct ValueCheck {
  let kind: ValueFinding.Kind
  let text: String
  let isAffected: (Double) -> Bool

  static var halfOverflow: Self {
    Self(
      kind: .outOfRange, text: "beyond the declared float16, infinite in Core ML",
      isAffected: Half.overflows)
  }

  static var lostDigits: Self {
    Self(kind: .lostDigits, text: "at least 2²⁴, where single precision loses digits") {
      (0x1p24...0x1p31).contains(abs($0))
    }
  }
}

extension FeatureType {
  fileprivate var inputChecks: [ValueCheck] {
    switch kind {
    case .image(let image) where image.colorSpace != .grayscaleFloat16:
      return [
        ValueCheck(kind: .pixels, text: "not a pixel of Core ML: a whole number from 0 to 255") {
          !Self.isWhole($0, in: 0...255)
        }
      ]
    case .multiArray(let array):
      var checks = [
        ValueCheck(kind: .overflow, text: "beyond single precision, and became infinite") {
          $0.isFinite && Float($0).isInfinite
        }
      ]
      if array.dataType == .float16 { checks.append(.halfOverflow) }
      if array.dataType.wholeNumbers != nil {
        checks.append(.lostDigits)
      }
      return checks
    default: return []
    }
  }

  /// The checks for an output; the first two find numbers that are not finite.
  fileprivate var outputChecks: [ValueCheck] {
    var checks = [
      ValueCheck(kind: .notANumber, text: "NaN", isAffected: \.isNaN),
      ValueCheck(kind: .infinite, text: "infinite", isAffected: \.isInfinite),
    ]
    guard case .multiArray(let array) = kind else { return checks }
    if let range = array.dataType.wholeNumbers {
      checks += [
        ValueCheck(
          kind: .notWhole,
          text: "not whole, and Core ML casts to the declared \(array.dataType)"
        ) { range.contains($0) && $0.rounded() != $0 },
        ValueCheck(kind: .outOfRange, text: "beyond the declared \(array.dataType)") {
          $0.isFinite && !range.contains($0)
        },
        .lostDigits,
      ]
    } else if array.dataType == .float16 {
      checks.append(.halfOverflow)
    }
    return checks
  }
}

extension FeatureValue {
  fileprivate func findings(_ checks: some Sequence<ValueCheck>, _ location: String)
    -> [ValueFinding]
  {
    checks.compactMap { check in
      var (count, total) = (0, 0)
      forEachNumber { _, number in
        total += 1
        if check.isAffected(number) { count += 1 }
      }
      if count == 0 { return nil }
      return ValueFinding(
        check.kind,
        "\(counted(count, "value")) of \(total) \(count == 1 ? "is" : "are") \(check.text)",
        field: location)
    }
  }
}

extension Predictor {
  /// The suspicious values in the inputs.
  func findings(ofInputs values: [String: FeatureValue]) -> [ValueFinding] {
    inputs.flatMap { input -> [ValueFinding] in
      guard let value = values[input.name], let type = input.type else { return [] }
      // Feature models compute in double precision; a tensor only has numbers in single precision.
      let isSingle = if case .array = value { true } else { false }
      let checks = type.inputChecks.filter {
        $0.kind != .overflow || !model.usesFeatures && !isSingle
      }
      return value.findings(checks, "input '\(input.name)'")
    }
  }

  /// Reports suspicious values in the inputs to the listener.
  func report(inputs values: [String: FeatureValue]) {
    guard let report = options.engine.hooks.onFinding else { return }
    findings(ofInputs: values).forEach(report)
  }

  /// Reports suspicious values in the outputs and kept blobs to the listener.
  package func report(_ results: [String: Tensor]) {
    guard let report = options.engine.hooks.onFinding else { return }
    findings(results).forEach(report)
  }

  func findings(_ results: [String: Tensor]) -> [ValueFinding] {
    results.sorted { $0.key < $1.key }.flatMap { name, tensor -> [ValueFinding] in
      let location = "output '\(name)'"
      let isFinite = tensor.withUnsafeElements {
        NotFinite.count(floats: UnsafeRawBufferPointer($0)) == 0
      }
      let output = interface.output(name)
      let isOutput = output != nil || name == model.probabilitiesBlob
      let checks = (output?.type ?? FeatureType()).outputChecks
      var found = FeatureValue.array(tensor).findings(
        isFinite ? checks.dropFirst(2) : isOutput ? checks[...] : checks.prefix(1), location)
      if let output, !hasFlexibleInput,
        let text = output.type.contradiction(
          tensor.shape, isRank5: !output.isExact, of: "the model")
      {
        found.append(ValueFinding(.shape, text, field: location))
      }
      return found
    }
  }

  private var hasFlexibleInput: Bool { model.description?.hasFlexibleInput ?? false }

  /// The same for the outputs of a feature model.
  func report(_ outputs: [String: FeatureValue]) {
    guard let report = options.engine.hooks.onFinding else { return }
    for output in model.description?.output ?? [] {
      guard let value = outputs[output.name], let type = output.type else { continue }
      // Feature models compute in double precision.
      let checks = type.outputChecks.filter { $0.kind != .lostDigits }
      value.findings(checks, "output '\(output.name)'").forEach(report)
    }
  }
}
