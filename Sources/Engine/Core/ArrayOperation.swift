import Kernels

/// A computation on row-major arrays of known sizes: a loop over units that threads share.
struct ArrayOperation: NodeOperation {
  var kind: String
  var units: Int
  var sumsProducts = false
  var canRunInPlace = false
  /// The source of the random numbers that `body` uses.
  var random: RandomSource?
  /// The elements whose mean a unit computes, if that is all it does: adjacent ones, or the channels
  /// of a pixel.
  var averaged: Averaged?

  enum Averaged: Equatable {
    case adjacent(Int)
    case channels
  }
  /// Computes one unit. No two units write to the same position.
  var body: @Sendable (ArrayBuffers, Int) -> Void

  var isRepeatable: Bool { random == nil }

  func makeStep(_ context: StepContext) throws -> StepBody {
    let inputs = context.inputs
    let outputs = context.outputs
    let kernels = context.kernels
    let units = units
    let body = body
    let random = random
    return { run in
      let buffers = ArrayBuffers(
        inputs: inputs.map { UnsafePointer(run.pointer($0)) },
        outputs: outputs.map { run.pointer($0) }, kernels: kernels,
        numbers: random?.numbers(round: run.round))
      run.pool.forEach(units) { body(buffers, $0) }
    }
  }
}

struct ArrayBuffers {
  let inputs: [UnsafePointer<Float>]
  let outputs: [UnsafeMutablePointer<Float>]
  let kernels: any KernelTable.Type
  /// The random numbers of a run.
  let numbers: RandomNumbers?

  var input: UnsafePointer<Float> { inputs[0] }
  var output: UnsafeMutablePointer<Float> { outputs[0] }
}
