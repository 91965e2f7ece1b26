import CoreMLModel
import MILImport
import TensorCore

let convolutionRules: [String: ONNXRule] = [
  "conv": { try $0.convolution() },
  "conv_transpose": { try $0.transposedConvolution() },
]

let poolingRules: [String: ONNXRule] = [
  "max_pool": { try $0.pooling("MaxPool") },
  "avg_pool": { try $0.pooling("AveragePool") },
  "l2_pool": { try $0.pooling("LpPool") },
]

extension Windows {
  fileprivate var extents: [Int] { zip(kernel, dilations).map { ($0 - 1) * $1 + 1 } }

  /// The padding as an attribute: the amounts, or the rule that determines them.
  fileprivate var padding: (String, AttributeValue) {
    switch padType {
    case "same": ("auto_pad", .string("SAME_UPPER"))
    case "same_lower": ("auto_pad", .string("SAME_LOWER"))
    default: ("pads", .ints(amounts))
    }
  }

  fileprivate var amounts: [Int] { pad.map(\.before) + pad.map(\.after) }

  /// Divides padding or cropping between the ends of an axis as the rule demands.
  fileprivate mutating func divide(_ total: Int, along axis: Int) {
    let before = padType == "same" ? total / 2 : total - total / 2
    pad[axis] = (before: before, after: total - before)
  }

  /// Replaces the rule with amounts where ONNX Runtime rejects it: beside dilations, and if windows
  /// are narrower than their distance. With a stride of 1, the amounts do not depend on the size.
  fileprivate mutating func resolve(_ x: GraphValue) {
    let sizes = kernel.indices.map { x.shape[$0 + 2] }
    guard isSame,
      dilations.contains(where: { $0 > 1 }) || zip(kernel, strides).contains(where: { $0 < $1 }),
      zip(sizes, strides).allSatisfy({ $0 != nil || $1 == 1 })
    else { return }
    for (axis, extent) in extents.enumerated() {
      let (size, stride) = (sizes[axis] ?? 1, strides[axis])
      divide(max(0, (size - 1) / stride * stride + extent - size), along: axis)
    }
    padType = "custom"
  }

  fileprivate var attributes: [(String, AttributeValue)] {
    [("kernel_shape", .ints(kernel)), ("strides", .ints(strides))]
  }
}

extension ExportedOperation {
  /// The sizes of the kernel, from the axes of the weights after the channels.
  private func kernel(_ x: GraphValue, _ weight: GraphValue) throws -> [Int] {
    guard let sizes = weight.sizes, weight.rank == x.rank, x.rank > 2 else {
      throw ModelError(
        .malformed, "weights of rank \(weight.rank) for an input of rank \(x.rank)", field: "weight"
      )
    }
    return Array(sizes[2...])
  }

  fileprivate func convolution() throws -> [GraphValue] {
    let (x, weight) = (try value("x"), try value("weight"))
    var windows = try Windows(self, kernel: kernel(x, weight))
    windows.resolve(x)
    return [
      try add(
        "Conv", [x, weight] + values("bias"),
        windows.attributes + [
          ("dilations", .ints(windows.dilations)), ("group", .int(int("groups", 1))),
          windows.padding,
        ])
    ]
  }

  /// The cropping follows from the padding or the declared size; output padding adds the rest.
  fileprivate func transposedConvolution() throws -> [GraphValue] {
    let (x, weight) = (try value("x"), try value("weight"))
    var windows = try Windows(self, kernel: kernel(x, weight))
    var added = windows.kernel.map { _ in 0 }
    let sizes = try ints("output_shape")?.dropFirst(2).map { $0 }
    try require(
      sizes == nil || sizes?.count == windows.kernel.count, "\(sizes ?? [])", field: "output_shape")
    for (axis, extent) in windows.extents.enumerated() {
      var excess = extent - windows.strides[axis]
      if let sizes, let size = x.shape[axis + 2] {
        excess = (size - 1) * windows.strides[axis] + extent - sizes[axis]
      }
      if windows.isSame {
        windows.divide(max(excess, 0), along: axis)
      } else if sizes != nil {
        windows.pad[axis].after = max(excess - windows.pad[axis].before, 0)
      } else {
        continue
      }
      added[axis] = max(windows.pad[axis].before + windows.pad[axis].after - excess, 0)
    }
    return [
      try add(
        "ConvTranspose", [x, weight] + values("bias"),
        windows.attributes + [
          ("dilations", .ints(windows.dilations)), ("group", .int(int("groups", 1))),
          ("pads", .ints(windows.amounts)),
        ] + (added.contains { $0 > 0 } ? [("output_padding", .ints(added))] : []))
    ]
  }

  fileprivate func pooling(_ type: String) throws -> [GraphValue] {
    var x = try value("x")
    let kernel = try ints("kernel_sizes") ?? []
    try require(kernel.count == x.rank - 2, "\(kernel) for rank \(x.rank)", field: "kernel_sizes")
    var windows = try Windows(self, kernel: kernel)
    let excludes = try bool("exclude_padding_from_average")
    var isCeiling = try bool("ceil_mode") && !windows.isSame
    windows.resolve(x)
    let declared = try declared()
    try require(declared.rank == x.rank, "the result has rank \(declared.rank)")
    if isCeiling, type != "AveragePool" || excludes {
      // Padding that completes the last window is equivalent and unambiguous.
      for axis in kernel.indices {
        guard let size = x.shape[axis + 2], let count = declared.shape[axis + 2] else { continue }
        let needed = (count - 1) * windows.strides[axis] + kernel[axis]
        let (before, after) = windows.pad[axis]
        windows.pad[axis].after += max(0, needed - size - before - after)
        isCeiling = false
      }
    }
    if zip(kernel, windows.pad).contains(where: { max($1.before, $1.after) >= $0 }) {
      // ONNX Runtime rejects padding that is as large as a window.
      try require(
        type != "AveragePool" || !excludes, .unsupported,
        "padding of an average that is as large as its window", field: "pad")
      x = try pad(
        x, [0, 0] + windows.pad.map(\.before), [0, 0] + windows.pad.map(\.after),
        type == "MaxPool" ? -.greatestFiniteMagnitude : 0)
      windows.pad = kernel.map { _ in (before: 0, after: 0) }
    }
    var attributes = windows.attributes + [windows.padding]
    if isCeiling { attributes.append(("ceil_mode", .int(1))) }
    if type == "AveragePool", !excludes { attributes.append(("count_include_pad", .int(1))) }
    return [try add(type, [x], attributes)]
  }

  /// Pads with a number.
  func pad(_ x: GraphValue, _ before: [Int], _ after: [Int], _ value: Float) throws -> GraphValue {
    let shape = x.shape.indices.map { axis in x.shape[axis].map { $0 + before[axis] + after[axis] }
    }
    return try add("Pad", [x, list(before + after), scalar(value, x.type)], shape: shape)
  }
}
