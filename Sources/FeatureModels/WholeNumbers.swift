extension ArrayFeatureType.DataType {
  /// The whole numbers of the type; nil for floats.
  package var wholeNumbers: ClosedRange<Double>? {
    switch self {
    case .int8: -128...127
    // Its largest number is the nearest one in single precision.
    case .int32: -0x1p31...0x1p31
    default: nil
    }
  }
}

extension FeatureType {
  package static func isWhole(_ number: Double, in range: ClosedRange<Double>) -> Bool {
    range.contains(number) && number.rounded() == number
  }

  /// - Throws: `.mismatch` if the input takes whole numbers, and the value has others.
  package func requireNumbers(_ value: FeatureValue, feature: String) throws {
    guard case .multiArray(let array) = kind, let range = array.dataType.wholeNumbers else {
      return
    }
    try value.forEachNumber { index, number in
      try require(
        Self.isWhole(number, in: range), .mismatch,
        "element \(index) is \(Float(number)), and the input is declared as \(array.dataType)",
        field: feature,
        hint: "give whole numbers from \(Int(range.lowerBound)) to \(-Int(range.lowerBound) - 1)")
    }
  }
}

extension FeatureValue {
  /// Passes the index of each number and the number; a text or an image has none.
  package func forEachNumber(_ body: (Int, Double) throws -> Void) rethrows {
    switch self {
    case .array(let tensor):
      try tensor.withUnsafeElements {
        for index in $0.indices { try body(index, Double($0[index])) }
      }
    case .numbers(let array): try array.elements.enumerated().forEach(body)
    case .int(let number): try body(0, Double(number))
    case .double(let number): try body(0, number)
    case .dictionary(let entries): try entries.values.enumerated().forEach(body)
    case .image, .string: break
    }
  }
}
