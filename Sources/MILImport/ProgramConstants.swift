import CoreMLModel
import TensorCore

extension MILProgram {
  /// Passes the constants with these names to `body`, one after the other. Compressed constants are
  /// expanded.
  package func forEachConstant(
    named names: Set<String>, _ body: (String, MILElements) throws -> Void
  ) throws {
    let lowering = ProgramLowering(self, values: nil, keepsStates: false)
    func visit(_ block: MILBlock) throws {
      for operation in block.operations {
        let name = operation.outputs.first?.name ?? ""
        if operation.type == "const" || names.contains(name) && operation.isExpansion {
          try lowering.lower(operation)
          if names.contains(name), let elements = try lowering.value(name).constant {
            try body(name, elements)
          }
          // Sparse values are expanded by another operation.
          if operation.isExpansion, operation.outputs.count == 1 { lowering.forget(name) }
        }
        try operation.blocks.forEach(visit)
      }
    }
    for function in functions {
      try function.value?.specializations.compactMap(\.value).forEach(visit)
    }
  }
}

extension MILOperation {
  fileprivate var isExpansion: Bool { type.hasPrefix("constexpr_") }
}
