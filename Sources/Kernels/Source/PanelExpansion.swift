import CVector
import KernelInterface

/// Expands the codes of some input blocks of a panel, which has `width` columns, starting with output
/// block `block`. `coded` starts with the code of the first input block.
@inline(never)
func expand(
  _ coded: CodedWeights, _ a: ConvolutionArguments, _ inputs: Range<Int>, block: Int, width: Int
) {
  let first = block &* channelBlock
  let taps = a.window.taps
  let rows = inputs.count &* taps &* a.blockChannels
  let (panel, target) = (coded.panel, coded.expanded)
  switch panel.values {
  case .linear(let scale, let bias):
    expand(panel.codes, rows: rows, width: width, (scale + first, bias + first), to: target)
  case .halves(let scale, let bias):
    expand(panel.codes, rows: rows, width: width, (scale + first, bias + first), to: target)
    roundToHalf(target, count: rows &* width)
  case .table(let table):
    expandBytes(ByteRows(base: panel.codes), count: rows &* width, table, to: target)
  }
  if let factor = panel.factor {
    for row in 0..<rows {
      var column = 0
      while column < width {
        let place = target + (row &* width &+ column)
        store(load(place) * load(factor + (first &+ column)), place)
        column &+= lanes
      }
    }
  }
  // The last input block may have fewer channels.
  let used = panel.inputChannels &- (a.inputBlocks &- 1) &* a.blockChannels
  if inputs.upperBound < a.inputBlocks || used >= a.blockChannels { return }
  for tap in 0..<taps {
    let unused = (rows &- (taps &- tap) &* a.blockChannels &+ used) &* width
    (target + unused).update(repeating: 0, count: (a.blockChannels &- used) &* width)
  }
}

/// Distance in bytes from the codes in use to those being prefetched.
@inline(__always)
private var fetchDistance: Int { 1024 }

typealias LinearValues = (scale: UnsafePointer<Float>, bias: UnsafePointer<Float>)

/// Writes `scale[column] · code + bias[column]` for each row of `width` codes, one vector or two.
@inline(__always)
func expand(
  _ codes: UnsafePointer<UInt8>, rows: Int, width: Int, _ values: LinearValues,
  to target: UnsafeMutablePointer<Float>
) {
  if width == lanes {
    expand(Count<1>(), codes, rows: rows, values, to: target)
  } else {
    expand(Count<2>(), codes, rows: rows, values, to: target)
  }
}

@inline(__always)
private func expand<let columns: Int>(
  _: Count<columns>, _ codes: UnsafePointer<UInt8>, rows: Int, _ values: LinearValues,
  to target: UnsafeMutablePointer<Float>
) {
  var scales = InlineArray<columns, Vector>(repeating: .zero)
  var biases = InlineArray<columns, Vector>(repeating: .zero)
  for c in 0..<columns {
    scales[c] = load(values.scale + c &* lanes)
    biases[c] = load(values.bias + c &* lanes)
  }
  var position = 0
  while position < rows &* columns &* lanes {
    vector_prefetch(codes + (position &+ fetchDistance))
    for c in 0..<columns {
      let place = position &+ c &* lanes
      let bytes = UnsafeRawPointer(codes + place).loadUnaligned(as: vector_bytes.self)
      store(vector_scale(vector_from_bytes(bytes), scales[c], biases[c]), target + place)
    }
    position &+= columns &* lanes
  }
}
