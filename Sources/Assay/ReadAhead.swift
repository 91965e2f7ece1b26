import CoreMLModel
import Dispatch
import Imaging

/// The values of a list of inputs, one after the other: while the caller works with one, the next
/// is read and decoded on another thread.
public final class ReadAhead: @unchecked Sendable {
  // `@unchecked`: `result` is written by one block at a time and read after `isRead` was signalled.
  private let sources: [InputSource]
  private let model: Model
  private let pictures: PictureOptions
  private let queue = DispatchQueue(label: "assay.read")
  private let isRead = DispatchSemaphore(value: 0)
  private var result: Result<[String: FeatureValue], any Error> = .success([:])
  private var position = 0

  public init(
    _ sources: [InputSource], for model: Model, pictures: PictureOptions = PictureOptions()
  ) {
    self.sources = sources
    self.model = model
    self.pictures = pictures
    begin(0)
  }

  /// The values of the next source, nil after the last one.
  ///
  /// - Throws: what reading that source threw; the one after it can be asked for all the same.
  public func next() throws -> [String: FeatureValue]? {
    guard position < sources.count else { return nil }
    isRead.wait()
    let current = result
    position += 1
    begin(position)
    return try current.get()
  }

  private func begin(_ index: Int) {
    guard index < sources.count else { return }
    queue.async { [self] in
      result = Result { try sources[index].read(for: model, pictures: pictures) }
      isRead.signal()
    }
  }
}
