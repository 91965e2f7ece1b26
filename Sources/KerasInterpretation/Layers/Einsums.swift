import Interpretation
import TensorCore

/// EinsumDense, and layers with a separate kernel for each position.
enum Einsums {
  static let operations: [String: KerasOperations.Operation] = [
    "EinsumDense": dense, "LocallyConnected1D": local, "LocallyConnected2D": local,
  ]

  /// Σ a · b over the labels that are missing from the result.
  static func sum(
    _ a: DoubleArray, _ aLabels: [Character], _ b: DoubleArray, _ bLabels: [Character],
    to labels: [Character]
  ) throws -> DoubleArray {
    var sizes: [Character: Int] = [:]
    for (array, names) in [(a, aLabels), (b, bLabels)] {
      guard array.rank == names.count, Set(names).count == names.count else {
        throw ModelError(.mismatch, "\(String(names)) of the shape \(array.shape)")
      }
      for (label, size) in zip(names, array.shape) {
        try require(
          sizes[label, default: size] == size, .mismatch,
          "the axis \(label) has several lengths: \(a.shape), \(b.shape)")
        sizes[label] = size
      }
    }
    guard Set(labels).count == labels.count, labels.allSatisfy({ sizes[$0] != nil }) else {
      throw ModelError(.malformed, "the output of its equation has axes that no input has")
    }
    var result = try DoubleArray(shape: labels.map { sizes[$0] ?? 0 })
    let all = labels + sizes.keys.filter { !labels.contains($0) }.sorted()
    let shape = all.map { sizes[$0] ?? 0 }
    func steps(_ array: DoubleArray, _ names: [Character]) -> [Int] {
      all.map { label in names.firstIndex(of: label).map { array.strides[$0] } ?? 0 }
    }
    let (first, second, target) = (steps(a, aLabels), steps(b, bLabels), steps(result, labels))
    var index = [Int](repeating: 0, count: all.count)
    var (x, y, z) = (0, 0, 0)
    for _ in 0..<(try checkedProduct(shape)) {
      result.values[z] += a.values[x] * b.values[y]
      for axis in all.indices.reversed() {
        index[axis] += 1
        (x, y, z) = (x + first[axis], y + second[axis], z + target[axis])
        if index[axis] < shape[axis] { break }
        (x, y, z) = (
          x - first[axis] * shape[axis], y - second[axis] * shape[axis],
          z - target[axis] * shape[axis]
        )
        index[axis] = 0
      }
    }
    return result
  }

  private static func dense(_ run: LayerRun) throws -> [KerasValue] {
    let equation = (run.field("equation")?.string ?? "").filter { $0 != " " }
    let parts = equation.split(separator: ">", omittingEmptySubsequences: false)
    let sides = parts.first?.dropLast().split(separator: ",") ?? []
    try run.require(parts.count == 2 && sides.count == 2, "its equation '\(equation)'")
    // The ellipsis represents the input's axes without a letter.
    let named = sides[0].filter { $0 != "." }.count
    let open = run.input.rank - named
    try run.require((0..<10).contains(open), "its equation '\(equation)'")
    func labels(_ text: Substring) -> [Character] {
      guard let dot = text.firstIndex(of: ".") else { return Array(text) }
      return Array(text[..<dot]) + Array("0123456789".prefix(open))
        + text[dot...].filter { $0 != "." }
    }
    var result = try sum(
      run.input, labels(sides[0]), run.weight(0), labels(sides[1]), to: labels(parts[1]))
    if run.weights.count > 1 {
      let bias = try run.weight(1)
      try run.require(bias.rank <= result.rank, "a bias of shape \(bias.shape)")
      let shape = [Int](repeating: 1, count: result.rank - bias.rank) + bias.shape
      result = try Merges.broadcast(result, bias.reshaped(shape), +)
    }
    return Elements.same(run, try run.activated(result, "activation"))
  }

  /// The kernel is `[positions, taps · in, out]`.
  private static func local(_ run: LayerRun) throws -> [KerasValue] {
    let axes = run.axes
    try run.require(rank: axes + 2)
    let kernel = try run.weight(0)
    try run.require(
      kernel.rank == 3 && !run.isChannelsFirst && run.generation.major > 1
        && (run.field("padding")?.string ?? "valid") == "valid",
      "a kernel of shape \(kernel.shape)")
    let taps = try run.sizes("kernel_size", count: axes)
    let stride = try run.sizes("strides", count: axes)
    let full = [Int](repeating: 1, count: 2 - axes)
    let (k, s) = (full + taps, full + stride)
    let shape = run.input.shape
    let x = try run.input.reshaped([shape[0]] + (full + shape[1...]))
    let channels = x.shape[3]
    let out = (0..<2).map { axis -> Int in
      let rest = x.shape[axis + 1] - k[axis]
      return rest < 0 ? 0 : rest / s[axis] + 1
    }
    let width = kernel.shape[2]
    guard kernel.shape[0] == out[0] * out[1], kernel.shape[1] == k[0] * k[1] * channels else {
      throw ModelError(.mismatch, "the kernel \(kernel.shape) does not fit the input \(shape)")
    }
    var rows: [DoubleArray] = []
    for position in 0..<out[0] * out[1] {
      let (row, column) = (position / out[1] * s[0], position % out[1] * s[1])
      let window = try x.slice(1, row..<row + k[0]).slice(2, column..<column + k[1])
        .reshaped([shape[0], kernel.shape[1]])
      let own = try kernel.slice(0, position..<position + 1).reshaped([kernel.shape[1], width])
      rows.append(try Products.product(window, own).reshaped([shape[0], 1, width]))
    }
    var result = DoubleArray.concatenated(rows, axis: 1)
    if run.weights.count > 1 {
      result = try Merges.broadcast(result, run.weight(1).reshaped([1, out[0] * out[1], width]), +)
    }
    result = try result.reshaped([shape[0]] + (axes == 1 ? [out[1]] : out) + [width])
    return [KerasValue(array: try run.activated(result, "activation"))]
  }
}
