/// The version that wrote a model, such as `1.2.2`, `2.2.4`, `2.2.4-tf` or `2.15.0`.
struct KerasVersion: Sendable {
  var text: String
  /// `tensorflow`, `theano`, `cntk`; nil where the file does not say.
  var backend: String?
  private var numbers: [Int]

  init(text: String?, backend: String?) {
    self.text = text ?? ""
    self.backend = backend
    numbers = (text ?? "").split { $0 == "." || $0 == "-" }.prefix(3).map { Int($0) ?? 0 }
  }

  var isKnown: Bool { !numbers.isEmpty }
  var isKeras1: Bool { numbers.first.map { $0 < 2 } ?? false }
  /// Keras as a part of TensorFlow, or the later Keras that only runs on it.
  var isTensorFlowKeras: Bool { text.hasSuffix("-tf") || isAtLeast(2, 4) }

  func isAtLeast(_ major: Int, _ minor: Int) -> Bool {
    guard let first = numbers.first else { return false }
    return first > major || first == major && (numbers.count > 1 ? numbers[1] : 0) >= minor
  }

  /// TensorFlow 2, whose bilinear resizing takes the centres of the pixels.
  var isTensorFlow2: Bool { isTensorFlowKeras && isAtLeast(2, 3) || isAtLeast(2, 4) }

  var description: String { isKnown ? "Keras \(text)" : "Keras" }
}
