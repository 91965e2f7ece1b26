import LibC
import TensorCore

/// How convolutions are computed that can be computed in several ways.
package enum ConvolutionAlgorithm: String, CaseIterable, Sendable {
  /// Whichever is estimated to be faster, layer by layer.
  case automatic
  /// Multiplies and adds as the definition does.
  case direct
  /// Winograd's F(2×2, 3×3) for every 3 × 3 convolution of one group with stride and dilation 1; as
  /// with the next two, F(4, 3) and F(3, 7) for kernels of 3 and 7 taps in one row or column.
  case winograd2
  /// Winograd's F(4×4, 3×3) for the same.
  case winograd4
  /// Winograd's F(6×6, 3×3) for the same.
  case winograd6
  /// One level of Strassen's algorithm for every 1 × 1 convolution of one group with an even number
  /// of channel blocks.
  case strassen

  /// Names the algorithm to use instead of the automatic choice.
  package static let environmentVariable = "ASSAY_CONVOLUTION"

  /// The algorithm that the environment asks for, else `automatic`.
  ///
  /// - Throws: `.usage` for a name that does not exist.
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
