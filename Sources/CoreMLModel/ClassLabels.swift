package typealias ClassLabels = NeuralNetworkClassifier.ClassLabels

extension NeuralNetworkClassifier.ClassLabels {
  package var count: Int {
    switch self {
    case .string(let labels): labels.count
    case .int64(let labels): labels.count
    }
  }
}

extension Field {
  /// The choice between string and integer labels.
  static func classLabels(_ path: WritableKeyPath<Message, ClassLabels?>) -> Self {
    labels(path, string: "stringClassLabels", int64: "int64ClassLabels")
  }

  static func labels(
    _ path: WritableKeyPath<Message, ClassLabels?>, string: String, int64: String
  ) -> Self {
    .choice(
      path,
      [
        .flat(
          string, read: { .string(try $0.strings("vector")) },
          { if case .string(let labels) = $0 { labels } else { nil } },
          write: { try $1.set("vector", $0) }),
        .flat(
          int64, read: { .int64(try $0.ints("vector")) },
          { if case .int64(let labels) = $0 { labels } else { nil } },
          write: { try $1.set("vector", $0) }),
      ])
  }
}
