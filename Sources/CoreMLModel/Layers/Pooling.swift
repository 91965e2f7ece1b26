import TensorCore

/// Maximum, average or L2 norm over windows.
package struct Pooling: LayerParameters {
  package enum PoolingType: Int, Sendable, CaseIterable {
    case max = 0
    case average = 1
    case l2 = 2
  }

  package enum Padding: Sendable, Equatable {
    case valid(ValidPadding)
    case same(SamePadding)
    case includeLastPixel(ValidCompletePadding)
  }

  package var type = PoolingType.max
  package var kernelSize: [Int] = []
  package var stride: [Int] = []
  package var padding: Padding?
  package var avgPoolExcludePadding = false
  package var globalPooling = false

  package init() {}

  package static let fields: Fields = [
    .value("type", \.type),
    .ints("kernelSize", \.kernelSize),
    .ints("stride", \.stride),
    .choice(
      \.padding,
      [
        .message(
          "valid", { .valid($0) }, { if case .valid(let value) = $0 { value } else { nil } }),
        .message("same", { .same($0) }, { if case .same(let value) = $0 { value } else { nil } }),
        .message(
          "includeLastPixel", { .includeLastPixel($0) },
          { if case .includeLastPixel(let value) = $0 { value } else { nil } }),
      ]),
    .bool("avgPoolExcludePadding", \.avgPoolExcludePadding),
    .bool("globalPooling", \.globalPooling),
  ]

  /// Kernel and strides `[h, w]`.
  package func effectiveSizes() throws -> (kernel: [Int], strides: [Int]) {
    (try sizePair(kernelSize, 3, "kernelSize"), try sizePair(stride, 1, "stride"))
  }

  /// The padding around an input of `[h, w]`. With `includeLastPixel`, the last windows may extend
  /// past it, where there are no values.
  package func explicitPadding(_ size: [Int]) throws -> ExplicitPadding {
    if globalPooling { return ExplicitPadding() }
    let (kernel, strides) = try effectiveSizes()
    switch padding {
    case .valid(let valid):
      return try (valid.paddingAmounts ?? BorderAmounts()).resolved("valid.paddingAmounts")
    case .includeLastPixel(let complete):
      let amounts = complete.paddingAmounts.isEmpty ? [0, 0] : complete.paddingAmounts
      try require(
        amounts.count == 2 && amounts.allSatisfy({ $0 >= 0 && $0 <= Limits.dimension }),
        "\(amounts) is invalid; two amounts are needed", field: "includeLastPixel.paddingAmounts")
      return ExplicitPadding(
        top: amounts[0], bottom: amounts[0], left: amounts[1], right: amounts[1])
    case .same(let same):
      func total(_ axis: Int) throws -> Int {
        let output = (size[axis] + strides[axis] - 1) / strides[axis]
        return try checkedSum([
          checkedProduct([output - 1, strides[axis]]), kernel[axis], -size[axis],
        ])
      }
      return try same.split(height: total(0), width: total(1))
    case nil: return ExplicitPadding()
    }
  }

  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    let shape = try input(inputs)
    if globalPooling { return [try shape.resized(1, 1).checked] }
    let (kernel, strides) = try effectiveSizes()
    let size = [shape.height, shape.width]
    let border = try explicitPadding(size)
    let starts = [border.top, border.left]
    let added = [border.top + border.bottom, border.left + border.right]
    let result = try (0..<2).map { axis in
      if case .same = padding { return (size[axis] + strides[axis] - 1) / strides[axis] }
      let rest = size[axis] + added[axis] - kernel[axis]
      try require(
        rest >= 0,
        "a window of \(kernel[axis]) does not match the input's \(size[axis]) and padding of "
          + "\(added[axis])", field: "kernelSize")
      guard case .includeLastPixel = padding else { return rest / strides[axis] + 1 }
      let count = (rest + strides[axis] - 1) / strides[axis] + 1
      // With padding, no window starts in the padding after the image.
      let begin = try checkedProduct([count - 1, strides[axis]])
      return starts != [0, 0] && begin >= size[axis] + starts[axis] ? count - 1 : count
    }
    return [try shape.resized(result[0], result[1]).checked]
  }

  package func check(_ faults: inout ValidationIssues) {
    if !globalPooling {
      faults.catching { _ = try effectiveSizes() }
      faults.catching { _ = try explicitPadding([1, 1]) }
    }
    faults.require(
      padding != nil, "PoolingPaddingType",
      "the padding is neither valid, same nor includeLastPixel")
  }
}

/// Caffe's rule: out = ⌈(in + 2·pad − kernel) / stride⌉ + 1, minus one if the last window would
/// start in the padding.
package struct ValidCompletePadding: SpecificationMessage {
  package var paddingAmounts: [Int] = []
  package var unknownFields = UnknownFields()

  package init() {}

  package static let fields: Fields = [.ints("paddingAmounts", \.paddingAmounts)]
}
