import Interpretation
import TensorCore

extension CaffeOperations {
  static let products: [String: CaffeOperation] = [
    "InnerProduct": .one(innerProduct),
    "Embed": .one(embed),
    "Parameter": .one(bottoms: 0...0) { layer in
      try layer.weight(0, shape: layer.settings("parameter_param").message("shape").ints("dim"))
    },
  ]

  /// inner_product_layer.cpp: the axes from `axis` on are flattened into one vector.
  private static func innerProduct(_ layer: LayerRun) throws -> DoubleArray {
    let settings = layer.settings("inner_product_param")
    let input = layer.input
    let axis = try layer.axis(settings.int("axis"), of: input)
    let outputs = try settings.size("num_output")
    let isTransposed = try settings.bool("transpose")
    let rows = input.count(0..<axis)
    let width = input.count(axis..<input.rank)
    let weights = try layer.rawWeight(
      0, count: checkedProduct([outputs, width], limit: Limits.tensorElements))
    var result = try DoubleArray(shape: input.shape[..<axis] + [outputs])
    if try settings.bool("bias_term") {
      let bias = try layer.weight(1, shape: [outputs]).values
      for index in result.values.indices { result.values[index] = bias[index % outputs] }
    }
    // Read the weights one row at a time.
    let length = isTransposed ? outputs : width
    var line = [Float](repeating: 0, count: length)
    for index in 0..<(isTransposed ? width : outputs) {
      line.withUnsafeMutableBufferPointer { buffer in
        if let start = buffer.baseAddress {
          weights.copy(index * length..<(index + 1) * length, to: start)
        }
      }
      for row in 0..<rows {
        if isTransposed {
          let value = input.values[row * width + index]
          for output in 0..<outputs {
            result.values[row * outputs + output] += value * Double(line[output])
          }
        } else {
          var sum = 0.0
          for column in 0..<width {
            sum += input.values[row * width + column] * Double(line[column])
          }
          result.values[row * outputs + index] += sum
        }
      }
    }
    return result
  }

  /// embed_layer.cpp: each element selects a row of the weights.
  private static func embed(_ layer: LayerRun) throws -> DoubleArray {
    let settings = layer.settings("embed_param")
    let (words, outputs) = (try settings.size("input_dim"), try settings.size("num_output"))
    let weights = try layer.weight(0, shape: [words, outputs]).values
    let bias = try settings.bool("bias_term") ? try layer.weight(1, shape: [outputs]).values : nil
    var values: [Double] = []
    for element in layer.input.values {
      guard let word = Int(exactly: element.rounded(.towardZero)), (0..<words).contains(word) else {
        throw layer.fault("\(element) is not the index of a word")
      }
      for output in 0..<outputs {
        values.append(weights[word * outputs + output] + (bias?[output] ?? 0))
      }
    }
    return DoubleArray(shape: layer.input.shape + [outputs], values)
  }
}
