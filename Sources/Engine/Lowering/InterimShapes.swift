import CoreMLModel
import TensorCore

/// Output shapes until the document's own rules are there.
func interimOutputShapes(_ parameters: any LayerParameters, _ inputs: [[Int]]) throws -> [[Int]] {
  let first = inputs.first ?? [1, 1, 1, 1, 1]
  func pair(_ values: [Int], _ standard: [Int]) -> [Int] { values.count == 2 ? values : standard }
  func replaced(_ c: Int, _ h: Int, _ w: Int) -> [[Int]] { [[first[0], first[1], c, h, w]] }
  switch parameters {
  case let p as Convolution:
    let k = pair(p.kernelSize, [3, 3])
    let s = pair(p.stride, [1, 1])
    let d = pair(p.dilationFactor, [1, 1])
    var result = [0, 0]
    for axis in 0..<2 {
      let size = first[3 + axis]
      var pads = 0
      var isSame = false
      switch p.padding {
      case .valid(let v):
        let amounts = v.paddingAmounts ?? BorderAmounts()
        pads = axis == 0 ? amounts.top + amounts.bottom : amounts.left + amounts.right
      case .same: isSame = true
      case nil: break
      }
      if p.isDeconvolution {
        result[axis] =
          p.outputShape.count == 2
          ? p.outputShape[axis] : isSame ? size * s[axis] : (size - 1) * s[axis] + k[axis] - pads
      } else {
        let extent = (k[axis] - 1) * d[axis] + 1
        result[axis] =
          isSame ? (size + s[axis] - 1) / s[axis] : (size + pads - extent) / s[axis] + 1
      }
    }
    return replaced(p.outputChannels, result[0], result[1])
  case let p as Pooling:
    if p.globalPooling { return replaced(first[2], 1, 1) }
    let k = pair(p.kernelSize, [3, 3])
    let s = pair(p.stride, [1, 1])
    var result = [0, 0]
    for axis in 0..<2 {
      let size = first[3 + axis]
      switch p.padding {
      case .same: result[axis] = (size + s[axis] - 1) / s[axis]
      case .includeLastPixel(let c):
        let pad = pair(c.paddingAmounts, [0, 0])[axis]
        result[axis] = (size + 2 * pad - k[axis] + s[axis] - 1) / s[axis] + 1
        if pad > 0, (result[axis] - 1) * s[axis] >= size + pad { result[axis] -= 1 }
      case .valid(let v):
        let amounts = v.paddingAmounts ?? BorderAmounts()
        let pads = axis == 0 ? amounts.top + amounts.bottom : amounts.left + amounts.right
        result[axis] = (size + pads - k[axis]) / s[axis] + 1
      case nil: result[axis] = (size - k[axis]) / s[axis] + 1
      }
    }
    return replaced(first[2], result[0], result[1])
  case let p as InnerProduct: return replaced(p.outputChannels, 1, 1)
  case let p as Embedding: return replaced(p.outputChannels, 1, 1)
  case is Flatten: return replaced(first[2] * first[3] * first[4], 1, 1)
  case let p as Reshape:
    return p.targetShape.count == 3
      ? replaced(p.targetShape[0], p.targetShape[1], p.targetShape[2])
      : [[p.targetShape[0], first[1]] + p.targetShape[1...]]
  case let p as Permute:
    let four = [first[0], first[2], first[3], first[4]]
    let out = p.axis.map { four[$0] }
    return [[out[0], first[1], out[1], out[2], out[3]]]
  case let p as Crop:
    if inputs.count == 2 { return replaced(first[2], inputs[1][3], inputs[1][4]) }
    let a = p.cropAmounts ?? BorderAmounts()
    return replaced(first[2], first[3] - a.top - a.bottom, first[4] - a.left - a.right)
  case let p as Padding:
    let a = p.paddingAmounts ?? BorderAmounts()
    return replaced(first[2], first[3] + a.top + a.bottom, first[4] + a.left + a.right)
  case let p as Upsample:
    let f = pair(p.scalingFactor, [1, 1])
    return replaced(first[2], first[3] * f[0], first[4] * f[1])
  case let p as Concat:
    var result = first
    let axis = p.sequenceConcat ? 0 : 2
    result[axis] = inputs.reduce(0) { $0 + $1[axis] }
    return [result]
  case let p as Split:
    return Array(
      repeating: [first[0], first[1], first[2] / p.nOutputs, first[3], first[4]], count: p.nOutputs)
  case is Add, is Multiply, is Average, is Max, is Min:
    return [(0..<5).map { axis in inputs.map { $0[axis] }.max() ?? 1 }]
  case let p as LoadConstant: return [[1, 1] + p.shape]
  default: return [first]
  }
}
