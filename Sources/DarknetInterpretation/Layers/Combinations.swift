import Interpretation
import LibC
import TensorCore

extension DarknetOperations {
  static let combinations: [String: DarknetOperation] = [
    "route": route, "route2": route, "route3": route, "route_lhalf": route,
    "shortcut": shortcut,
    "scale_channels": { maker, _ in
      // scale_channels_layer.c: one factor per channel, or, with scale_wh, one per position.
      let source = try maker.earlier("from")[0]
      let shape = maker.shapes[source]
      let isByPlace = try maker.section.bool("scale_wh")
      let area = shape[1] * shape[2]
      try maker.require(
        maker.count == (isByPlace ? area : shape[0]), "\(maker.input) factors for \(shape)")
      let activation = try maker.activation("linear")
      return try maker.made(shape, reads: [source]) { call in
        var result = try call.result(source)
        for index in result.values.indices {
          result.values[index] *= call.input.values[isByPlace ? index % area : index / area]
        }
        return try activation(result)
      }
    },
    "sam": { maker, _ in
      let source = try maker.earlier("from")[0]
      try maker.require(maker.shapes[source] == maker.input, "\(maker.input) factors")
      let activation = try maker.activation("linear")
      return try maker.made(maker.input, reads: [source]) { call in
        var result = try call.result(source)
        for index in result.values.indices { result.values[index] *= call.input.values[index] }
        return try activation(result)
      }
    },
    "dropout": passed, "cost": passed, "contrastive": passed,
    "region": head, "yolo": head, "yolo4": head, "gaussian_yolo": head, "detection": head,
  ]

  private static let passed: DarknetOperation = { maker, _ in
    var section = try maker.made(maker.input) { $0.input }
    section.isPassedOver = true
    return section
  }

  /// The grid of a detection head, before Darknet's activation functions.
  private static let head: DarknetOperation = { maker, _ in
    var section = try maker.made(maker.input) { $0.input }
    section.isHead = true
    return section
  }

  /// route_layer.c: concatenates parts of earlier results.
  private static let route: DarknetOperation = { maker, _ in
    let sources = try maker.earlier("layers")
    let groups = try maker.size("groups", maker.section.kind == "route_lhalf" ? 2 : 1)
    let group = try maker.int("group_id", 0)
    try maker.require((0..<groups).contains(group), "group_id is \(group)")
    let shapes = sources.map { maker.shapes[$0] }
    let counts = shapes.map { $0.reduce(1, *) / groups }
    let isImage = shapes.allSatisfy { $0[1...] == shapes[0][1...] }
    let shape =
      isImage
      ? [shapes.reduce(0) { $0 + $1[0] / groups }] + shapes[0][1...] : [counts.reduce(0, +), 1, 1]
    return try maker.made(shape, reads: sources) { call in
      var values: [Double] = []
      for (source, count) in zip(sources, counts) {
        values += try call.result(source).values[group * count..<(group + 1) * count]
      }
      try require(values.count == shape.reduce(1, *), "\(groups) groups of \(shapes)")
      return DoubleArray(shape: shape, values)
    }
  }

  /// shortcut_layer.c, shortcut_cpu and shortcut_multilayer_cpu.
  private static let shortcut: DarknetOperation = { maker, plan in
    let sources = try maker.earlier("from")
    let activation = try maker.activation("linear")
    let (alpha, beta) = (try maker.number("alpha", 1), try maker.number("beta", 1))
    let kind = maker.section.string("weights_type") ?? "none"
    let shape = maker.input
    if kind != "none" {
      let columns = kind == "per_channel" ? shape[0] : 1
      let stored = try plan.weights.numbers(
        checkedProduct([sources.count + 1, columns], limit: Limits.dimension))
      try maker.require(
        sources.allSatisfy { maker.shapes[$0] == shape }, "weighted results differ in size")
      let weights = normalized(
        stored, columns: columns, maker.section.string("weights_normalization") ?? "none")
      let area = shape[1] * shape[2]
      return try maker.made(shape, reads: sources) { call in
        var result = try DoubleArray(shape: shape)
        for (row, part) in try ([call.input] + sources.map { try call.result($0) }).enumerated() {
          for index in result.values.indices {
            let column = columns == 1 ? 0 : index / area
            result.values[index] += weights[row * columns + column] * part.values[index]
          }
        }
        return try activation(result)
      }
    }
    return try maker.made(shape, reads: sources) { call in
      var result = call.input
      for source in sources {
        let part = try call.result(source)
        let other = part.shape
        let step = max(1, other[2] / shape[2])
        let rise = max(1, shape[2] / other[2])
        let (rows, columns) = (min(other[1], shape[1]), min(other[2], shape[2]))
        guard (rows - 1) * step < other[1], (rows - 1) * rise < shape[1] else {
          throw ModelError(.malformed, "\(other) is added to \(shape)")
        }
        for k in 0..<min(shape[0], other[0]) {
          for j in 0..<rows {
            for i in 0..<columns {
              let target = (k * shape[1] + j * rise) * shape[2] + i * rise
              let value = part.values[(k * other[1] + j * step) * other[2] + i * step]
              result.values[target] = alpha * result.values[target] + beta * value
            }
          }
        }
      }
      return try activation(result)
    }
  }

  /// The weights of each column, normalized over the rows.
  private static func normalized(_ weights: [Double], columns: Int, _ kind: String) -> [Double] {
    var result = weights
    for column in 0..<columns where kind != "none" {
      let line = stride(from: column, to: weights.count, by: columns).map { $0 }
      let largest = line.map { weights[$0] }.max() ?? 0
      for index in line {
        result[index] = kind == "softmax" ? exp(weights[index] - largest) : max(weights[index], 0)
      }
      let sum = line.reduce(1e-4) { $0 + result[$1] }
      for index in line { result[index] /= sum }
    }
    return result
  }
}
