import TensorCore

/// The outcome of one request.
enum HDF5Answer: Sendable, Equatable {
  /// The numbers are at the request's offset.
  case numbers
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
      case .numbers, .unreadable:
        let index = Int(try reader.integer(UInt32.self))
        guard index < requests.count, answers[index] == nil else {
          throw FrameReader.garbled("an answer without a request")
        }
        if kind == .numbers {
          answers[index] = .numbers
        } else {
          var error = try reader.reason()
          error.message = "\(requests[index].path): \(error.message)"
          answers[index] = .unreadable(error)
        }
      case .finish:
        try reader.expectEnd()
        return try answers.map { answer in
          guard let answer else { throw FrameReader.garbled("a request without an answer") }
          return answer
        }
      case .failure: throw try reader.reason()
      case .beginGroup, .endGroup, .attribute, .dataset, .refused, .unconfined:
        throw FrameReader.garbled("an unexpected description")
      }
    }
  }
}
