/// A Python function as `marshal` writes it.
package struct PythonCode: Equatable, Sendable {
  package var layout: PythonMarshal.CodeLayout
  package var name: String
  package var argumentCount: Int
  package var keywordOnlyCount: Int
  package var stackSize: Int
  package var flags: Int
  package var code: [UInt8]
  package var constants: [PythonMarshal.Value]
  package var names: [String]
  /// Arguments first. From 3.11 on also the cells and what the function encloses.
  package var variables: [String]
  /// Variables that inner functions take, up to 3.10.
  package var cells: [String]
  /// Variables that are taken from the function around this one.
  package var free: [String]

  /// Of generators and coroutines.
  package static let generatorFlags = 0x20 | 0x80 | 0x100 | 0x200
}

extension PythonCode {
  /// A function without instructions.
  package init(layout: PythonMarshal.CodeLayout, name: String, variables: [String]) {
    self.init(
      layout: layout, name: name, argumentCount: 0, keywordOnlyCount: 0, stackSize: 4096, flags: 0,
      code: [], constants: [], names: [], variables: variables, cells: [], free: [])
  }

  /// The instructions as each version of Python that may have written them reads them, the likeliest
  /// ones only.
  package var readings: [(version: PythonVersion, operations: [PythonOperation])] {
    var readings: [(version: PythonVersion, operations: [PythonOperation])] = []
    for version in PythonVersion.all where version.layouts.contains(layout) {
      guard let operations = PythonInstructions.read(self, as: version),
        !readings.contains(where: { $0.operations == operations && !definesFunctions(operations) })
      else { continue }
      readings.append((version, operations))
    }
    /// Whose instructions may be read otherwise.
    func definesFunctions(_ operations: [PythonOperation]) -> Bool {
      operations.contains { if case .function = $0 { true } else { false } }
    }
    func strangers(_ operations: [PythonOperation]) -> Int {
      operations.count { if case .other = $0 { true } else { false } }
    }
    let fewest = readings.map { strangers($0.operations) }.min()
    return readings.filter { strangers($0.operations) == fewest }
  }
}
