import CoreMLModel
import Dispatch
import Imaging
import ModelPrediction

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The values of a list of inputs in order: while the caller processes one, the next ones are read
/// and decoded on other threads. At most `depth` are held at a time.
package final class ReadAhead: @unchecked Sendable {
  // `@unchecked`: `list` is used only on the serial queue; a slot is written by one block at a time
  // and read after its semaphore was signalled.
  package struct Item: Sendable {
    package let source: InputSource
    package let values: Result<[String: FeatureValue], any Error>
  }

  private final class Slot: @unchecked Sendable {
    let isReady = DispatchSemaphore(value: 0)
    var item: Item?
  }

  private var list: InputList
  private let model: Model
  private let images: ImageOptions
  private let sources = DispatchQueue(label: "assay.list")
  private let readers = DispatchQueue(label: "assay.read", attributes: .concurrent)
  private let slots: [Slot]
  private var position = 0

  package init(
    _ list: InputList, for model: Model, images: ImageOptions = ImageOptions(),
    depth: Int = min(4, ProcessInfo.processInfo.activeProcessorCount)
  ) {
    self.list = list
    self.model = model
    self.images = images
    slots = (0..<max(1, depth)).map { _ in Slot() }
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

  private func fill(_ slot: Slot) {
    sources.async { [self] in
      guard let source = list.next() else {
        slot.item = nil
        slot.isReady.signal()
        return
      }
      readers.async { [self] in
        slot.item = Item(
          source: source, values: Result { try source.read(for: model, images: images) })
        slot.isReady.signal()
      }
    }
  }
}
