import Dispatch
import Synchronization
import TensorCore

/// Runs a network on a sequence of frames, with several in progress at once: while one is computed,
/// the next ones are cropped and resized, and the result of the last one is used. Results come in
/// the order of the frames.
public final class Runner: Sendable {
  /// Receives the result of a frame.
  public typealias Completion = @Sendable (Result<NetworkPrediction, any Error>) -> Void

  /// The number of frames that may be in progress.
  public let framesInFlight: Int
  private let model: CompiledModel
  private let frames: DispatchSemaphore
  private let queue = DispatchQueue(label: "assay.runner", attributes: .concurrent)
  private let order = Mutex(Order())

  private struct Order {
    var submitted = 0
    var delivered = 0
    var isDelivering = false
    var finished: [Int: (result: Result<NetworkPrediction, any Error>, completion: Completion)] =
      [:]
  }

  /// - Parameter framesInFlight: the number of frames that may be in progress; at least 1.
  public init(_ model: CompiledModel, framesInFlight: Int = 3) {
    self.model = model
    self.framesInFlight = max(1, framesInFlight)
    frames = DispatchSemaphore(value: self.framesInFlight)
  }

  /// Starts computing a frame, after waiting until fewer than ``framesInFlight`` frames are in
  /// progress. The crop of a ``Resize`` is the one set at the time of the call.
  ///
  /// - Parameter completion: called on another thread, for one frame at a time and in the order of
  ///   the frames. It must not submit frames.
  public func submit(_ frame: InputValue, _ completion: @escaping Completion) {
    submit(Result { try model.prepared(frame) }, completion)
  }

  /// The same for a network with several inputs.
  public func submit(_ frame: [String: InputValue], _ completion: @escaping Completion) {
    submit(Result { try model.prepared(frame) }, completion)
  }

  /// The results for a sequence of frames, in order. A frame that fails does not end the sequence.
  ///
  /// Frames are read from the sequence as the results are requested, ``framesInFlight`` ahead.
  public func predictions<Frames: Sequence<InputValue>>(of frames: Frames) -> RunnerResults<Frames>
  {
    RunnerResults(runner: self, frames: frames.makeIterator())
  }

  private func submit(
    _ prepared: Result<CompiledModel.PreparedInputs, any Error>, _ completion: @escaping Completion
  ) {
    frames.wait()
    let number = order.withLock { order in
      defer { order.submitted += 1 }
      return order.submitted
    }
    queue.async { [self] in
      finish(number, Result { try model.run(prepared.get()) }, completion)
    }
  }

  /// Delivers the next results in order, unless another thread is already doing so.
  private func finish(
    _ number: Int, _ result: Result<NetworkPrediction, any Error>,
    _ completion: @escaping Completion
  ) {
    var isFirst = true
    while true {
      let next = order.withLock { order -> (Result<NetworkPrediction, any Error>, Completion)? in
        if isFirst {
          order.finished[number] = (result, completion)
          if order.isDelivering { return nil }
        }
        guard let next = order.finished.removeValue(forKey: order.delivered) else {
          order.isDelivering = false
          return nil
        }
        order.delivered += 1
        order.isDelivering = true
        return next
      }
      isFirst = false
      guard let (result, completion) = next else { return }
      completion(result)
      frames.signal()
    }
  }
}

private final class PendingResult: Sendable {
  let isReady = DispatchSemaphore(value: 0)
  let result = Mutex<Result<NetworkPrediction, any Error>?>(nil)
}

/// The results of a ``Runner`` for a sequence of frames, in order.
public struct RunnerResults<Frames: Sequence<InputValue>>: Sequence, IteratorProtocol {
  private let runner: Runner
  private var frames: Frames.Iterator
  private var pending: [PendingResult] = []

  init(runner: Runner, frames: Frames.Iterator) {
    self.runner = runner
    self.frames = frames
  }

  /// Waits for the next frame's result and returns it; nil after the last one.
  public mutating func next() -> Result<NetworkPrediction, any Error>? {
    while pending.count < runner.framesInFlight, let frame = frames.next() {
      let entry = PendingResult()
      pending.append(entry)
      runner.submit(frame) { result in
        entry.result.withLock { $0 = result }
        entry.isReady.signal()
      }
    }
    guard !pending.isEmpty else { return nil }
    let first = pending.removeFirst()
    first.isReady.wait()
    return first.result.withLock { $0 }
  }
}
