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
    var numbers: [Key: Result<Bytes, ModelError>] = [:]
  }

  private struct Key: Hashable {
    var dataset: Int
    var target: HDF5Request.Target
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

  /// The dataset's elements as little-endian numbers of the given type.
  func bytes(of index: Int, as target: HDF5Request.Target) throws -> Bytes {
    try inFile(input.path) {
      try state.withLock { state in
        let node = datasets[index]
        if node.count == 0 { return Bytes() }
        if target == .float32, let offset = node.fileOffset {
          let file = try state.file ?? input.map()
          state.file = file
          return file[offset..<offset + node.count * 4]
        }
        let key = Key(dataset: index, target: target)
        if state.numbers[key] == nil { try readBatch(from: key, &state) }
        guard let result = state.numbers[key] else {
          throw ModelError(.internal, "\(node.path) was not read")
        }
        return try result.get()
      }
    }
  }

  func strings(of index: Int) throws -> [String] {
    try inFile(input.path) {
      let node = datasets[index]
      if node.count == 0 { return [] }
      let request = HDF5Request(path: node.path, target: .strings, count: node.count, offset: 0)
      let (frames, _) = try access.backend.read([request], from: input, byteCount: 0)
      switch try AnswerDecoder.decode(frames, for: [request])[0] {
      case .strings(let strings): return strings
      case .unreadable(let error): throw error
      case .numbers: throw ModelError(.internal, "\(node.path) was read as numbers")
      }
    }
  }

  private func readBatch(from first: Key, _ state: inout State) throws {
    var keys: [Key] = []
    var requests: [HDF5Request] = []
    var byteCount = 0
    for index in datasets.indices[first.dataset...] {
      let node = datasets[index]
      let key = Key(dataset: index, target: first.target)
      if index != first.dataset {
        // An optimizer's state is read only on request.
        let joins =
          node.count > 0 && state.numbers[key] == nil && node.fileOffset == nil
          && (first.target == .int64 ? node.type.isInteger : node.type.kind == .float)
          && isOptimizerState(node.path) == isOptimizerState(datasets[first.dataset].path)
        if !joins { continue }
      }
      let size = try checkedProduct(
        [node.count, first.target.bytesPerElement], limit: Limits.fileBytes)
      let offset = (byteCount + 63) & ~63
      if index != first.dataset && offset + size > Self.batchBytes { break }
      keys.append(key)
      requests.append(
        HDF5Request(path: node.path, target: first.target, count: node.count, offset: offset))
      byteCount = offset + size
    }
    let (frames, values) = try access.backend.read(requests, from: input, byteCount: byteCount)
    try require(values.count >= byteCount, .internal, "the HDF5 library returned too few bytes")
    let answers = try AnswerDecoder.decode(frames, for: requests)
    for (position, request) in requests.enumerated() {
      let size = request.count * request.target.bytesPerElement
      if case .unreadable(let error) = answers[position] {
        state.numbers[keys[position]] = .failure(error)
      } else {
        state.numbers[keys[position]] = .success(values[request.offset..<request.offset + size])
      }
    }
  }

  private func isOptimizerState(_ path: String) -> Bool {
    path.hasPrefix("/optimizer_weights/")
  }
}
