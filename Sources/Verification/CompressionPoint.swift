import LibC

/// A compressed model's size and the error of its outputs.
package struct CompressionPoint: Sendable, Equatable {
  /// Size of the weights in bytes.
  package var byteCount: Int
  /// The largest absolute error of any output element.
  package var largestError = 0.0
  /// √(Σ (a − b)² / Σ b²) over all outputs and inputs.
  package var relativeError = 0.0
  /// Fraction of the inputs that keep their top class; nil if the outputs are not scores.
  package var agreement: Double?
  /// How many layers use each precision.
  package var label = ""

  /// The signal-to-noise ratio of the outputs.
  package var decibels: String {
    relativeError == 0 ? "exact" : "\((-200 * log10(relativeError)).rounded() / 10) dB"
  }

  package init(byteCount: Int) { self.byteCount = byteCount }
}
