import LibC
import TensorCore

/// An algorithm for convolutions.
package enum ConvolutionAlgorithm: String, CaseIterable, Sendable {
  /// The algorithm estimated to be fastest, layer by layer.
  case automatic
  /// Direct convolution: multiplies and adds as in the definition.
  case direct
  /// Winograd's F(2×2, 3×3) for every 3 × 3 convolution with one group, stride 1 and dilation 1.
  /// Like the next two cases, it also uses F(4, 3) and F(3, 7) for kernels of 3 and 7 taps in one
  /// row or column.
  case winograd2
  /// Winograd's F(4×4, 3×3) for the same convolutions.
  case winograd4
  /// Winograd's F(6×6, 3×3) for the same convolutions.
  case winograd6

  /// The environment variable that names the algorithm to use instead of the automatic choice.
  package static let environmentVariable = "ASSAY_CONVOLUTION"

  /// The algorithm set in the environment, or `automatic`.
  ///
  /// - Throws: `.usage` if the name is unknown.
  package static func selected() throws(ModelError) -> ConvolutionAlgorithm {
    guard let value = getenv(environmentVariable) else { return .automatic }
    let name = String(cString: value)
    if name.isEmpty { return .automatic }
    guard let algorithm = ConvolutionAlgorithm(rawValue: name) else {
      throw ModelError(
        .usage, "\(environmentVariable): unknown algorithm '\(name)'",
        hint: "valid names are \(allCases.map(\.rawValue).joined(separator: ", "))")
    }
    return algorithm
  }
}
