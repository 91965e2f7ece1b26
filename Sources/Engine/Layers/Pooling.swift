import CoreMLModel
import Kernels
import TensorCore

/// Maximum, average or L2 norm over windows. Padding is never read: windows end at the border, and
/// only the divisor of an average counts padding.
struct PoolingOperation: NodeOperation {
  var function: PoolingFunction
  var rows: PoolingAxis
  var columns: PoolingAxis
  /// Whether each plane has a single window that covers it.
  var isGlobal: Bool

  /// One window that covers each plane of the input.
  init(_ function: PoolingFunction, ofWhole input: Shape) {
    func whole(_ size: Int) -> PoolingAxis {
      PoolingAxis(starts: [0], ends: [Int32(clamping: size)], counts: nil)
    }
    self.init(
      function: function, rows: whole(input.height), columns: whole(input.width), isGlobal: true)
  }

  init(function: PoolingFunction, rows: PoolingAxis, columns: PoolingAxis, isGlobal: Bool = false) {
    (self.function, self.rows, self.columns, self.isGlobal) = (function, rows, columns, isGlobal)
  }

  var kind: String { "\(function) pooling" }

  func layoutWishes(_ shapes: NodeShapes) -> LayoutPreferences {
    LayoutPreferences(inputs: [.blocked], outputs: [.blocked])
  }

  func makeStep(_ context: StepContext) throws -> StepBody {
    let (from, to) = (context.inputs[0].layout, context.outputs[0].layout)
    let rows = try PoolingAxis.Table(rows)
    let columns = try PoolingAxis.Table(columns)
    let (kernels, function, patches) = (context.kernels, function, emptyWindows)
    let bands = to.planes >= context.threadCount * 4 ? 1 : min(to.shape.height, 8)
    return context.planeStep(bands: bands) { band in
      if band.rows.isEmpty { return }
      kernels.pool(
        PoolingArguments(
          function: function, rows: rows[band.rows], columns: columns[0..<to.shape.width],
          input: InputView(band.source, from.strides),
          output: OutputView(band.target + band.rows.lowerBound * to.rowStride, to.strides)))
      for patch in patches where band.rows.contains(patch.row) {
        (band.target + patch.row * to.rowStride + patch.column * to.block)
          .update(repeating: patch.value, count: to.block)
      }
      if !patches.isEmpty {
        to.clearEmptyLanes(ofPlane: band.plane, rows: band.rows, in: band.buffer)
      }
    }
  }

  /// The values of windows without any input element: the lowest number for a maximum, 0 divided by
  /// the count for an average.
  private var emptyWindows: [(row: Int, column: Int, value: Float)] {
    let emptyRows = rows.emptyPositions
    let emptyColumns = columns.emptyPositions
    if function == .l2 || emptyRows.isEmpty && emptyColumns.isEmpty { return [] }
    var windows: [(row: Int, column: Int, value: Float)] = []
    for row in rows.starts.indices {
      for column in columns.starts.indices
      where emptyRows.contains(row) || emptyColumns.contains(column) {
        var value = -Float.greatestFiniteMagnitude
        if function == .average {
          let divisor =
            rows.counts.map { Float($0[row]) * Float(columns.counts?[column] ?? 0) } ?? 0
          value = 0 / divisor
        }
        windows.append((row, column, value))
      }
    }
    return windows
  }
}

/// The windows along one axis.
struct PoolingAxis: Sendable, Equatable {
  var starts: [Int32]
  var ends: [Int32]
  /// The count of each window in the divisor of an average; nil means the window's length.
  var counts: [Int32]?

  /// Positions whose windows contain no element of the input.
  var emptyPositions: Set<Int> { Set(starts.indices.filter { starts[$0] >= ends[$0] }) }

  /// The three lists in memory that kernels may point to.
  struct Table: Sendable {
    private let buffer: Buffer
    private final class Buffer: @unchecked Sendable {
      let memory: AlignedBuffer
      init(_ values: [Int32]) throws {
        memory = try AlignedBuffer(checkedByteCount: values.count * 4)
        memory.pointer.assumingMemoryBound(to: Int32.self).update(from: values, count: values.count)
      }
    }
    private let length: Int
    private let hasCounts: Bool

    init(_ axis: PoolingAxis) throws {
      buffer = try Buffer(axis.starts + axis.ends + (axis.counts ?? []))
      length = axis.starts.count
      hasCounts = axis.counts != nil
    }

    private var base: UnsafePointer<Int32> {
      UnsafePointer(buffer.memory.pointer.assumingMemoryBound(to: Int32.self))
    }

    subscript(range: Range<Int>) -> PoolingWindows {
      let first = base + range.lowerBound
      return PoolingWindows(
        count: range.count, starts: first, ends: first + length,
        counts: hasCounts ? first + 2 * length : nil)
    }
  }
}

extension PoolingAxis {
  init(_ window: WindowGeometry, _ axis: Int, input: Int, output: Int, excludesPadding: Bool) {
    self.init(starts: [], ends: [], counts: nil)
    var sizes: [Int32] = []
    for position in 0..<output {
      let first = position * window.stride[axis] - window.start[axis]
      let last = first + window.kernel[axis]
      starts.append(Int32(clamping: min(max(first, 0), input)))
      ends.append(Int32(clamping: min(max(last, 0), input)))
      // The divisor counts the input with its padding.
      sizes.append(Int32(clamping: max(0, min(last, input + window.end[axis]) - first)))
    }
    counts = excludesPadding ? nil : sizes
  }
}

extension Pooling: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    let input = layer.inputShapes[0]
    let output = try layer.outputShape()
    let function: PoolingFunction =
      switch type {
      case .max: .maximum
      case .average: .average
      case .l2: .l2
      }
    if globalPooling {
      return [layer.add(PoolingOperation(function, ofWhole: input), layer.inputs, output)]
    }
    let window = try WindowGeometry(self, input: input)
    func axis(_ index: Int, _ size: Int, _ count: Int) -> PoolingAxis {
      PoolingAxis(window, index, input: size, output: count, excludesPadding: avgPoolExcludePadding)
    }
    let operation = PoolingOperation(
      function: function, rows: axis(0, input.height, output.height),
      columns: axis(1, input.width, output.width))
    return [layer.add(operation, layer.inputs, output)]
  }
}
