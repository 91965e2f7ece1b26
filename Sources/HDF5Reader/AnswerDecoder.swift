import TensorCore

/// The outcome of one request.
enum HDF5Answer: Sendable, Equatable {
  /// The numbers are at the request's offset.
  case numbers
  case strings([String])
  case unreadable(ModelError)
}

enum AnswerDecoder {
  /// One answer for each request, in order.
  static func decode(_ frames: [UInt8], for requests: [HDF5Request]) throws -> [HDF5Answer] {
    var answers = [HDF5Answer?](repeating: nil, count: requests.count)
    var reader = try FrameReader(frames)
    while true {
      let kind = try reader.next()
      switch kind {
      case .numbers, .strings, .unreadable:
        let index = Int(try reader.integer(UInt32.self))
        guard index < requests.count, answers[index] == nil else {
          throw FrameReader.garbled("an answer without a request")
        }
        answers[index] = try answer(kind, to: requests[index], &reader)
      case .finish:
        try reader.expectEnd()
        return try answers.map { answer in
          guard let answer else { throw FrameReader.garbled("a request without an answer") }
          return answer
        }
      case .failure: throw try reader.reason()
      case .beginGroup, .endGroup, .attribute, .dataset, .refused:
        throw FrameReader.garbled("an unexpected description")
      }
    }
  }

  private static func answer(
    _ kind: FrameKind, to request: HDF5Request, _ reader: inout FrameReader
  ) throws -> HDF5Answer {
    if kind == .unreadable {
      var error = try reader.reason()
      error.message = "\(request.path): \(error.message)"
      return .unreadable(error)
    }
    guard (kind == .strings) == (request.target == .strings) else {
      throw FrameReader.garbled("an answer of the wrong kind")
    }
    if kind == .numbers { return .numbers }
    guard try reader.integer(Int64.self) == Int64(request.count) else {
      throw FrameReader.garbled("a wrong number of strings")
    }
    return .strings(try reader.texts(request.count))
  }
}
