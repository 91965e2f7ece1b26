import Kernels
import TensorCore

/// Convolution weights as they stand in memory, read with any steps between output channel, input
/// channel, row and column. Negative steps flip the kernel.
struct WeightView: Sendable {
  var bytes: Bytes
  /// Floats from the start of `bytes` to the weight of indices 0.
  var offset = 0
  var outputStride: Int
  var inputStride: Int
  var rowStride: Int
  var columnStride: Int
  var outputChannels: Int
  var inputChannels: Int
  var kernelHeight: Int
  var kernelWidth: Int

  var count: Int { outputChannels * inputChannels * kernelHeight * kernelWidth }

  /// The part that belongs to group `group` of `groups`, where groups follow one another with
  /// `stride` floats between them.
  func group(_ group: Int, stride: Int) -> WeightView {
    var view = self
    view.offset += group * stride
    return view
  }

  /// The sizes alone.
  var withoutBytes: WeightView {
    var view = self
    view.bytes = Bytes()
    return view
  }

  /// `[outputChannel][inputChannel][row][column]` for `generalConvolution`.
  func rowMajor() -> [Float] {
    bytes.withUnsafeBytes { source in
      guard let base = source.baseAddress else { return [] }
      var values: [Float] = []
      values.reserveCapacity(count)
      for o in 0..<outputChannels {
        for i in 0..<inputChannels {
          for y in 0..<kernelHeight {
            for x in 0..<kernelWidth {
              let index =
                offset + o * outputStride + i * inputStride + y * rowStride + x * columnStride
              values.append(base.loadUnaligned(fromByteOffset: index * 4, as: Float.self))
            }
          }
        }
      }
      return values
    }
  }

  func packingArguments(
    _ base: UnsafeRawPointer, blockChannels: Int, panelBlocks: Int, panels: Range<Int>,
    packed: UnsafeMutablePointer<Float>
  ) -> PackingArguments {
    PackingArguments(
      source: base + offset * 4, outputStride: outputStride, inputStride: inputStride,
      rowStride: rowStride, columnStride: columnStride, outputChannels: outputChannels,
      inputChannels: inputChannels, kernelHeight: kernelHeight, kernelWidth: kernelWidth,
      blockChannels: blockChannels, panelBlocks: panelBlocks, firstPanel: panels.lowerBound,
      panelCount: panels.count, packed: packed)
  }

  func winogradArguments(
    _ base: UnsafeRawPointer, _ form: WinogradForm, scale: Constant?, panel: Int,
    packed: UnsafeMutablePointer<Float>
  ) -> WinogradPackingArguments {
    WinogradPackingArguments(
      form: form, source: base + offset * 4, outputStride: outputStride, inputStride: inputStride,
      rowStride: rowStride, columnStride: columnStride, outputChannels: outputChannels,
      inputChannels: inputChannels, scale: scale?.pointer, firstPanel: panel, panelCount: 1,
      packed: packed)
  }
}
