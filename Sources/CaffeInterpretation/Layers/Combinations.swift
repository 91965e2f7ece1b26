import Interpretation

extension CaffeOperations {
  static let combinations: [String: CaffeOperation] = [
    "Eltwise": .one(bottoms: 1...1024, eltwise),
    "Axpy": .one(bottoms: 3...3, axpy),
    "Concat": .one(bottoms: 1...1024, concat),
    "Slice": CaffeOperation(slice),
    "Tile": .one { layer in
      let settings = layer.settings("tile_param")
      let axis = try layer.axis(settings.int("axis"), of: layer.input)
      let tiles = try settings.size("tiles")
      // Throws if the result is too large.
      _ = try DoubleArray(shape: layer.input.shape + [tiles])
      return .concatenated([DoubleArray](repeating: layer.input, count: tiles), axis: axis)
    },
  ]

  /// eltwise_layer.cpp
  private static func eltwise(_ layer: LayerRun) throws -> DoubleArray {
    let settings = layer.settings("eltwise_param")
    let coefficients = try settings.numbers("coeff")
    try layer.require(
      layer.bottoms.allSatisfy { $0.count == layer.input.count }, "its bottoms differ in shape")
    try layer.require(
      coefficients.isEmpty || coefficients.count == layer.bottoms.count,
      "it has \(coefficients.count) coefficients")
    var result = layer.input
    let operation = try settings.symbol("operation")
    switch operation {
    case "SUM":
      for index in result.values.indices {
        var sum = 0.0
        for (position, bottom) in layer.bottoms.enumerated() {
          sum += bottom.values[index] * (coefficients.isEmpty ? 1 : coefficients[position])
        }
        result.values[index] = sum
      }
    case "PROD":
      for bottom in layer.bottoms.dropFirst() {
        for index in result.values.indices { result.values[index] *= bottom.values[index] }
      }
    case "MAX":
      for bottom in layer.bottoms.dropFirst() {
        for index in result.values.indices {
          result.values[index] = max(result.values[index], bottom.values[index])
        }
      }
    default: throw layer.missing("operation is \(operation)")
    }
    return result
  }

  /// axpy_layer.cpp of hujie-frank/SENet: a · x + y, with one factor per channel and item.
  private static func axpy(_ layer: LayerRun) throws -> DoubleArray {
    let (a, x, y) = (layer.bottoms[0], layer.bottoms[1], layer.bottoms[2])
    try layer.require(
      x.rank >= 2 && a.count == x.count(0..<2) && x.count == y.count,
      "its bottoms have the shapes \(a.shape), \(x.shape) and \(y.shape)")
    let inner = x.count(2..<x.rank)
    var result = y
    for index in result.values.indices {
      result.values[index] += a.values[index / inner] * x.values[index]
    }
    return result
  }

  /// concat_layer.cpp
  private static func concat(_ layer: LayerRun) throws -> DoubleArray {
    let settings = layer.settings("concat_param")
    let axis = try layer.axis(
      settings.int(settings.has("concat_dim") ? "concat_dim" : "axis"), of: layer.input)
    func rest(_ array: DoubleArray) -> [Int] {
      array.shape.enumerated().filter { $0.offset != axis }.map(\.element)
    }
    try layer.require(
      layer.bottoms.allSatisfy {
        $0.rank == layer.input.rank && rest($0) == rest(layer.input)
      }, "its bottoms differ in shape")
    return .concatenated(layer.bottoms, axis: axis)
  }

  /// slice_layer.cpp
  private static func slice(_ layer: LayerRun) throws -> [DoubleArray] {
    let settings = layer.settings("slice_param")
    let input = layer.input
    let axis = try layer.axis(
      settings.int(settings.has("slice_dim") ? "slice_dim" : "axis"), of: input)
    let size = input.shape[axis]
    var points = try settings.ints("slice_point")
    if points.isEmpty {
      let count = max(1, layer.topCount)
      try layer.require(size % count == 0, "\(size) elements for \(count) tops")
      points = (1..<max(count, 1)).map { $0 * (size / count) }
    }
    try layer.require(points.count + 1 == layer.topCount, "it has \(points.count) slice points")
    let bounds = [0] + points + [size]
    try layer.require(zip(bounds, bounds.dropFirst()).allSatisfy(<), "slice points \(points)")
    return zip(bounds, bounds.dropFirst()).map { input.slice(axis, $0..<$1) }
  }
}
