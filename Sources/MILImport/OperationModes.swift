import CoreMLModel
import TensorCore

/// A choice that a layer has as a case, and an operation as a text.
package protocol OperationMode: CaseIterable {
  /// The name in programs.
  var operationName: String { get }
}

extension OperationArguments {
  package func mode<Mode: OperationMode>(_ name: String, _ missing: Mode) throws -> Mode {
    let text = try string(name, missing.operationName)
    return try Mode.allCases.first { $0.operationName == text }.orThrow(
      ModelError(.unsupported, "mode '\(text)' is not supported", field: name))
  }
}

extension ScatterMode: OperationMode {
  package var operationName: String {
    switch self {
    case .update: "update"
    case .add: "add"
    case .subtract: "sub"
    case .multiply: "mul"
    case .divide: "div"
    case .maximum: "max"
    case .minimum: "min"
    }
  }
}

extension Gelu.Mode: OperationMode {
  package var operationName: String {
    switch self {
    case .exact: "EXACT"
    case .tanhApproximation: "TANH_APPROXIMATION"
    case .sigmoidApproximation: "SIGMOID_APPROXIMATION"
    }
  }
}

extension CropResize.BoxCoordinates: OperationMode {
  package var operationName: String {
    switch self {
    case .cornersHeightFirst: "CORNERS_HEIGHT_FIRST"
    case .cornersWidthFirst: "CORNERS_WIDTH_FIRST"
    case .centerSizeHeightFirst: "CENTER_SIZE_HEIGHT_FIRST"
    case .centerSizeWidthFirst: "CENTER_SIZE_WIDTH_FIRST"
    }
  }
}

extension SamplingMethod: OperationMode {
  package var operationName: String {
    switch self {
    case .strictAlignEndpoints: "STRICT_ALIGN_CORNERS"
    case .alignEndpoints: "ALIGN_CORNERS"
    case .upsample: "DEFAULT"
    case .roiAlign: "OFFSET_CORNERS"
    }
  }
}
