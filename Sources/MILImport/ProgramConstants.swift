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
      // An operation may expand what another one gives.
      var read: Set<String> = []
      func isNeeded(_ operation: MILOperation) -> Bool {
        operation.isExpansion
          && operation.outputs.contains { names.contains($0.name) || read.contains($0.name) }
      }
      for operation in block.operations.reversed() where isNeeded(operation) {
        read.formUnion(operation.namesRead)
      }
      for operation in block.operations {
        if operation.type == "const" || isNeeded(operation) {
          try lowering.lower(operation)
          for name in operation.outputs.map(\.name) {
            if names.contains(name), let elements = try lowering.value(name).constant {
              try body(name, elements)
            }
            if operation.isExpansion, !read.contains(name) { lowering.forget(name) }
          }
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
