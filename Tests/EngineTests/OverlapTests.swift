import CoreMLModel
import Foundation
import Synchronization
import TensorCore
import Testing

@testable import Engine

/// Concurrent predictions of one network.
@Suite struct OverlapTests {
  private typealias Net = TestNetwork

  /// The threads that have arrived, each of which waits for a second one.
  private final class Meeting: Sendable {
    private let arrived = Mutex<Set<ObjectIdentifier>>([])
    private let end = ContinuousClock.now + .seconds(20)

    var isComplete: Bool { arrived.withLock { $0.count } == 2 }

    func wait() {
      arrived.withLock { _ = $0.insert(ObjectIdentifier(Thread.current)) }
      while !isComplete, ContinuousClock.now < end { Thread.sleep(forTimeInterval: 0.001) }
    }
  }

  /// Each prediction ends its first step only after the other has reached it.
  @Test func predictionsOnOneThreadOverlap() throws {
    let model = Net.model(
      [3, 8, 8],
      [Net.layer("c", Net.convolution(3, 4), "in", "a"), Net.layer("s", Softmax(), "a", "out")])
    let inputs = (1...2).map { Net.tensor([1, 1, 3, 8, 8], seed: $0) }
    let expected = try inputs.map { try Net.predict(model, $0) { $0.threads = 1 }["out"] }
    let meeting = Meeting()
    var options = CompileOptions()
    options.threads = 1
    options.hooks.onStep = { _ in meeting.wait() }
    let network = try CompiledNetwork(model: model, options: options)
    let results = Mutex<[Int: Tensor]>([:])
    let ended = DispatchGroup()
    for (index, input) in inputs.enumerated() {
      ended.enter()
      Thread.detachNewThread {
        let result = try? network.predict(["in": input])["out"]
        results.withLock { $0[index] = result }
        ended.leave()
      }
    }
    ended.wait()
    #expect(meeting.isComplete)
    let found: [Tensor?] = results.withLock { results in [results[0], results[1]] }
    #expect(found == expected)
  }
}
