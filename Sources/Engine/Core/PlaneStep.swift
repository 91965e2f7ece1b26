/// Some rows of one plane of a step's first output, and the same plane of its first input.
struct PlaneBand {
  /// Index among all planes of the output.
  let plane: Int
  let rows: Range<Int>
  /// The first elements of the planes.
  let source: UnsafePointer<Float>
  let target: UnsafeMutablePointer<Float>
  /// The buffer of the output.
  let buffer: UnsafeMutablePointer<Float>
}

extension StepContext {
  /// Bands per output plane, enough to keep all threads busy.
  var bands: Int {
    let layout = outputs[0].layout
    return max(1, min(layout.shape.height, threadCount * 4 / layout.planes))
  }

  /// A step that computes the output plane by plane, each in `bands` bands of rows.
  func planeStep(bands: Int = 1, _ body: @escaping @Sendable (PlaneBand) -> Void) -> StepBody {
    let (input, output) = (inputs[0], outputs[0])
    let (from, to) = (input.layout, output.layout)
    return { run in
      let source = UnsafePointer(run.pointer(input))
      let target = run.pointer(output)
      run.parallel(to.planes * bands, writing: output) { unit in
        let (plane, band) = unit.quotientAndRemainder(dividingBy: bands)
        body(
          PlaneBand(
            plane: plane, rows: ThreadPool.share(of: to.shape.height, band, bands),
            source: source + from.planeOffset(plane), target: target + to.planeOffset(plane),
            buffer: target))
      }
    }
  }
}
