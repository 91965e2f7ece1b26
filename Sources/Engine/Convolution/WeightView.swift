import Kernels
import TensorCore

/// Convolution weights in place, with any strides for output channel, input channel, row and
/// column. Negative strides flip the kernel.
@dynamicMemberLookup
struct WeightView: Sendable {
  var bytes: Bytes
  /// Floats from the start of `bytes` to the weight with all indices 0.
  var offset = 0
  var layout: WeightLayout
  /// Floats from one group's weights to the next's.
  var groupStride: Int
  /// The packed weights for sums of integers, which take the place of the bytes.
  var words: Constant?

  subscript(dynamicMember key: WritableKeyPath<WeightLayout, Int>) -> Int {
    get { layout[keyPath: key] }
    set { layout[keyPath: key] = newValue }
  }

  var count: Int {
    layout.outputChannels * layout.inputChannels * layout.kernelHeight * layout.kernelWidth
  }

  func group(_ group: Int) -> WeightView {
    var view = self
    view.offset += group * groupStride
    return view
  }

  /// The sizes without the bytes.
  var withoutBytes: WeightView {
    var view = self
    view.bytes = Bytes()
    return view
  }

  /// The weight at an output channel, input channel, row and column.
  ///
  /// - Parameter base: the address of `bytes`.
  @inline(__always)
  func value(_ base: UnsafeRawPointer, _ o: Int, _ i: Int, _ y: Int, _ x: Int) -> Float {
    let index =
      offset + o * layout.outputStride + i * layout.inputStride + y * layout.rowStride
      + x * layout.columnStride
    return base.loadUnaligned(fromByteOffset: index * 4, as: Float.self)
  }

  /// `[outputChannel][inputChannel][row][column]` for `generalConvolution`.
  func rowMajor() -> [Float] {
    bytes.withUnsafeBytes { source in
      guard let base = source.baseAddress else { return [] }
      var values: [Float] = []
      values.reserveCapacity(count)
      for o in 0..<layout.outputChannels {
        for i in 0..<layout.inputChannels {
          for y in 0..<layout.kernelHeight {
            for x in 0..<layout.kernelWidth { values.append(value(base, o, i, y, x)) }
          }
        }
      }
      return values
    }
  }

  /// - Parameter base: the address of `bytes`.
  func packingArguments(
    _ base: UnsafeRawPointer, panels: Range<Int>, packed: UnsafeMutablePointer<Float>
  ) -> PackingArguments {
    PackingArguments(source: base + offset * 4, layout: layout, panels: panels, packed: packed)
  }
}
