import Synchronization
import TensorCore

/// The elements of a file's datasets, read on demand and then kept.
final class HDF5Contents: Sendable {
  let input: HDF5Input
  let datasets: [DatasetNode]
  private let access: HDF5Access
  private let state = Mutex(State())

  private struct State {
    var file: Bytes?
    /// The numbers by index of the dataset.
    var numbers: [Int: Result<Bytes, ModelError>] = [:]
  }

  /// Datasets that follow the requested one are read with it, up to this many bytes, to start fewer
  /// workers.
  private static let batchBytes = 64 << 20

  init(input: HDF5Input, access: HDF5Access, datasets: [DatasetNode]) {
    self.input = input
    self.access = access
    self.datasets = datasets
  }

  func error(_ code: ModelError.Code, _ message: String, hint: String? = nil) -> ModelError {
    ModelError(code, message, file: input.path, hint: hint)
  }

  /// The dataset's elements as little-endian 32-bit floats.
  func bytes(of index: Int) throws -> Bytes {
    try inFile(input.path) {
      try state.withLock { state in
        let node = datasets[index]
        if node.count == 0 { return Bytes() }
        if let offset = node.fileOffset {
          let file = try state.file ?? input.map()
          state.file = file
          return file[offset..<offset + node.count * 4]
        }
        if state.numbers[index] == nil { try readBatch(from: index, &state) }
        guard let result = state.numbers[index] else {
          throw ModelError(.internal, "\(node.path) was not read")
        }
        return try result.get()
      }
    }
  }

  private func readBatch(from first: Int, _ state: inout State) throws {
    var batch: [Int] = []
    var requests: [HDF5Request] = []
    var byteCount = 0
    for index in datasets.indices[first...] {
      let node = datasets[index]
      if index != first {
        // An optimizer's state is read only on request.
        let joins =
          node.count > 0 && state.numbers[index] == nil && node.fileOffset == nil
          && node.type.kind == .float
          && isOptimizerState(node.path) == isOptimizerState(datasets[first].path)
        if !joins { continue }
      }
      let size = try checkedProduct([node.count, 4], limit: Limits.fileBytes)
      let offset = (byteCount + 63) & ~63
      if index != first && offset + size > Self.batchBytes { break }
      batch.append(index)
      requests.append(HDF5Request(path: node.path, count: node.count, offset: offset))
      byteCount = offset + size
    }
    let (frames, values) = try access.backend.read(requests, from: input, byteCount: byteCount)
    try require(values.count >= byteCount, .internal, "the HDF5 library returned too few bytes")
    let answers = try AnswerDecoder.decode(frames, for: requests)
    for (position, request) in requests.enumerated() {
      state.numbers[batch[position]] =
        switch answers[position] {
        case .unreadable(let error): .failure(error)
        case .numbers: .success(values[request.offset..<request.offset + request.count * 4])
        }
    }
  }

  private func isOptimizerState(_ path: String) -> Bool { path.hasPrefix("/optimizer_weights/") }
}
