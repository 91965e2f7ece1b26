/// Fixed upper bounds on what an input may declare; see `docs/security.md`.
package enum Limits {
  /// Bytes of an `.mlmodel`: protobuf's own bound.
  package static let modelBytes = Int(Int32.max)
  /// Bytes of any other input file.
  package static let fileBytes = 4 << 30
  /// Elements of one tensor.
  package static let tensorElements = 1 << 31
  package static let rank = 8
  /// Upper bound on the multiply-adds counted for one layer; the sum over the maximum number of
  /// layers fits in an `Int`.
  package static let multiplyAdds = 1 << 45
  package static let dimension = Int(Int32.max)
  package static let layers = 100_000
  /// Iterations of all loops in one prediction.
  package static let loopRuns = 1_000_000
  /// Multiply-adds and elements of all loops in one prediction, and its seconds, if the user did
  /// not ask for the prediction itself, as when checking an edit or comparing models.
  package static let loopWork = 1 << 34
  package static let loopSeconds = 3
  /// Steps of all loops of a program that are unrolled into layers.
  package static let unrolledSteps = 1000
  package static let nameBytes = 4096
  package static let protobufDepth = 64
  /// Bytes and values of a file in protobuf's text format.
  package static let prototxtBytes = 16 << 20
  package static let prototxtValues = 1_000_000
  package static let jsonDepth = 128
  package static let jsonBytes = 64 << 20
  package static let jsonValues = 4_000_000
  package static let imageSide = 16_384
  package static let imageSamples = 512 << 20
  /// Up to this number of samples, an image's size is not checked against that of the file.
  package static let uncheckedSamples = 4 << 20
  package static let classLabels = 1_000_000
  package static let zipMembers = 10_000
  /// Maximum ratio of a compressed member's uncompressed size to its size in the file.
  package static let expansionRatio = 1000
  /// The same for a whole zip archive or HDF5 file that expands to more than
  /// `uncheckedExpansionBytes`.
  package static let totalExpansionRatio = 100
  package static let uncheckedExpansionBytes = 64 << 20
  /// Memory allowed per byte of input; at least `uncheckedMemory` in total.
  package static let memoryPerInputByte = 1 << 20
  package static let uncheckedMemory = 192 << 20
  package static let npyHeaderBytes = 64 << 10
}
