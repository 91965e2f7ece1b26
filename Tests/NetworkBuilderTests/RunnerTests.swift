import Dispatch
import NetworkBuilder
import Synchronization
import TensorCore
import Testing

struct RunnerTests {
  private static func doubler() throws -> CompiledModel {
    let input = Input(width: 1, height: 1, channels: 1)
    return try Network(
      input: input,
      output: input --> Convolution(kernel: (1, 1), channels: 1, bias: false, name: "double")
    ).compile(weights: .dictionary(["double_W": [2]]))
  }

  @Test(arguments: [1, 3, 8])
  func resultsComeInOrder(_ framesInFlight: Int) throws {
    let runner = Runner(try Self.doubler(), framesInFlight: framesInFlight)
    // The seventh frame has two values instead of one.
    let frames = (0..<50).map { InputValue.floats($0 == 7 ? [0, 0] : [Float($0)]) }
    let results = Array(runner.predictions(of: frames))
    #expect(results.count == 50)
    for (index, result) in results.enumerated() {
      guard index != 7 else {
        #expect(throws: ModelError.self) { try result.get() }
        continue
      }
      #expect(try result.get().output.floats == [Float(index) * 2])
    }
  }

  /// A sequence that counts how many of its frames have been read.
  private struct CountedFrames: Sequence, IteratorProtocol {
    let taken: TakenCount
    var rest = 10

    mutating func next() -> InputValue? {
      guard rest > 0 else { return nil }
      rest -= 1
      taken.count.withLock { $0 += 1 }
      return .floats([1])
    }
  }

  private final class TakenCount: Sendable { let count = Mutex(0) }

  @Test func severalFramesAreInFlight() throws {
    let taken = TakenCount()
    var results = Runner(try Self.doubler(), framesInFlight: 4)
      .predictions(of: CountedFrames(taken: taken))
    _ = results.next()
    #expect(taken.count.withLock { $0 } == 4)
    _ = results.next()
    #expect(taken.count.withLock { $0 } == 5)
    while results.next() != nil {}
    #expect(taken.count.withLock { $0 } == 10)
  }

  /// The first frame waits until the third has been submitted without any completion called; the
  /// fourth waits until the first is done.
  @Test func submittingWaitsForAPlace() throws {
    let runner = Runner(try Self.doubler(), framesInFlight: 3)
    let order = Mutex<[Float]>([])
    let isAllSubmitted = DispatchSemaphore(value: 0)
    let isDone = DispatchSemaphore(value: 0)
    let hasFourth = Mutex(false)
    for frame in 0..<3 {
      runner.submit(.floats([Float(frame)])) { result in
        if frame == 0 { isAllSubmitted.wait() }
        order.withLock { $0.append((try? result.get().output.floats.first) ?? -1) }
        isDone.signal()
      }
    }
    let queue = DispatchQueue(label: "fourth")
    queue.async {
      runner.submit(.floats([3])) { result in
        order.withLock { $0.append((try? result.get().output.floats.first) ?? -1) }
        isDone.signal()
      }
      hasFourth.withLock { $0 = true }
    }
    #expect(isDone.wait(timeout: .now() + .milliseconds(50)) == .timedOut)
    #expect(!hasFourth.withLock { $0 })
    isAllSubmitted.signal()
    for _ in 0..<4 { #expect(isDone.wait(timeout: .now() + 60) == .success) }
    #expect(order.withLock { $0 } == [0, 2, 4, 6])
  }

  @Test func keptTensorsAndSeveralInputs() throws {
    let a = Input(width: 1, height: 1, channels: 1, name: "a")
    let b = Input(width: 1, height: 1, channels: 1, name: "b")
    let sum = Add([a, b])
    var network = Network(inputs: [a, b], outputs: [sum --> ActivationLayer(.relu)])
    network.keep(sum)
    let runner = Runner(try network.compile(weights: .random()))
    let values = Mutex<[[Float]]>([])
    let isDone = DispatchSemaphore(value: 0)
    for frame in 0..<5 {
      runner.submit(["a": .floats([Float(frame)]), "b": .floats([-2])]) { result in
        let prediction = try? result.get()
        let kept = try? prediction?.value(of: sum).floats
        values.withLock { $0 += [kept ?? [], prediction?.output.floats ?? []] }
        isDone.signal()
      }
    }
    for _ in 0..<5 { #expect(isDone.wait(timeout: .now() + 60) == .success) }
    let expected: [[Float]] = [[-2], [0], [-1], [0], [0], [0], [1], [1], [2], [2]]
    #expect(values.withLock { $0 } == expected)
  }

  /// A frame uses the crop at the time of its submission.
  @Test func theCropIsThatOfTheFrame() throws {
    let input = Input()
    let resize = Resize(width: 1, height: 1, colors: .grayscale)
    let model = try Network(input: input, output: input --> resize --> ActivationLayer(.linear))
      .compile(weights: .random())
    let picture = Image(
      width: 20, height: 1, channelCount: 1, samples: Bytes((0..<20).map { UInt8($0) }))
    let runner = Runner(model)
    let frames = (0..<20).lazy.map { index -> InputValue in
      resize.crop = .rectangle(x: Double(index), y: 0, width: 1, height: 1)
      return .image(picture)
    }
    let values = try runner.predictions(of: frames).map { try $0.get().output.floats }
    #expect(values == (0..<20).map { [Float($0)] })
  }
}
