import CoreMLModel
import Dispatch
import Engine
import Imaging
import ModelPrediction
import Synchronization

/// How inputs become values.
package struct InputReader: Sendable {
  let model: Model
  let images: ImageOptions
  /// Receive what is suspicious in the files.
  let hooks: EngineHooks

  package init(
    _ model: Model, images: ImageOptions = ImageOptions(), hooks: EngineHooks = EngineHooks()
  ) {
    (self.model, self.images, self.hooks) = (model, images, hooks)
  }

  /// As a predictor needs them.
  package init(_ predictor: Predictor) {
    self.init(predictor.model, images: predictor.images, hooks: predictor.hooks)
  }
}

/// The values of a list of inputs in order: while the caller processes one, the next ones are read
/// and decoded on other threads, and predicted if that is faster than one after the other. At most
/// `depth` are held at a time.
package final class ReadAhead: @unchecked Sendable {
  // `@unchecked`: `list` is used only on the serial queue; a slot is written by one block at a time
  // and read after its semaphore was signalled; the rest belongs to the caller's thread.
  package struct Item: Sendable {
    package let source: InputSource
    package let values: Result<[String: FeatureValue], any Error>
    /// The prediction, if it was computed ahead, and how long that took.
    fileprivate var ahead: (prediction: Prediction, seconds: Double)?
  }

  private final class Slot: @unchecked Sendable {
    let isReady = DispatchSemaphore(value: 0)
    var item: Item?
  }

  private var list: InputList
  private let reader: InputReader
  private let predictor: Predictor?
  private let sources = DispatchQueue(label: "assay.list")
  private let readers = DispatchQueue(label: "assay.read", attributes: .concurrent)
  /// The concurrent predictions.
  private let turns: DispatchSemaphore
  private let predictsAhead = Atomic(false)
  private var pace: PredictionPace
  private let slots: [Slot]
  private var position = 0

  /// - Parameters:
  ///   - predictor: predicts what `prediction` returns.
  ///   - depth: the default keeps all cores busy.
  package init(
    _ list: InputList, _ reader: InputReader, predictor: Predictor? = nil, depth: Int? = nil
  ) {
    (self.list, self.reader, self.predictor) = (list, reader, predictor)
    let threads = predictor?.threadCount ?? 1
    turns = DispatchSemaphore(value: threads)
    pace = PredictionPace(threads: threads)
    let few = min(4, CompileOptions.availableCores)
    let most = threads > 1 ? threads + min(4, threads) : few
    slots = (0..<max(1, depth ?? max(few, most))).map { _ in Slot() }
    for slot in slots { fill(slot) }
  }

  /// The next input with its values, or with the error of reading them; nil after the last one.
  package func next() -> Item? {
    let slot = slots[position % slots.count]
    slot.isReady.wait()
    guard let item = slot.item else {
      slot.isReady.signal()
      return nil
    }
    position += 1
    fill(slot)
    return item
  }

  /// The prediction for an item's values.
  package func prediction(
    _ item: Item, _ values: [String: FeatureValue], _ predictor: Predictor
  ) throws -> Prediction {
    if let (prediction, seconds) = item.ahead {
      pace.addConcurrent(seconds)
      usePace()
      return prediction
    }
    let clock = ContinuousClock()
    let start = clock.now
    let prediction = try item.source.blamed { try predictor.predict(values) }
    pace.addSingle((clock.now - start) / .seconds(1))
    usePace()
    return prediction
  }

  /// Starts or stops predicting ahead.
  private func usePace() {
    let wanted = pace.isConcurrent && predictor?.isReadyForOneThread == true
    let isNew = predictsAhead.exchange(wanted, ordering: .relaxed) != wanted
    guard wanted, isNew else { return }
    // The items that have already been read.
    for offset in slots.indices {
      let slot = slots[(position + offset) % slots.count]
      slot.isReady.wait()
      readers.async { [self] in
        predict(slot)
        slot.isReady.signal()
      }
    }
  }

  private func predict(_ slot: Slot) {
    guard slot.item?.ahead == nil, let predictor, let values = try? slot.item?.values.get() else {
      return
    }
    turns.wait()
    defer { turns.signal() }
    let clock = ContinuousClock()
    let start = clock.now
    guard let prediction = predictor.predictOnOneThread(values) else { return }
    slot.item?.ahead = (prediction, (clock.now - start) / .seconds(1))
  }

  private func fill(_ slot: Slot) {
    sources.async { [self] in
      guard let source = list.next() else {
        slot.item = nil
        slot.isReady.signal()
        return
      }
      readers.async { [self] in
        slot.item = Item(
          source: source,
          values: Result {
            try source.read(for: reader.model, images: reader.images, hooks: reader.hooks)
          })
        if predictsAhead.load(ordering: .relaxed) { predict(slot) }
        slot.isReady.signal()
      }
    }
  }
}
