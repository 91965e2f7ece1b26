/// A Python function as `marshal` writes it.
package struct PythonCode: Equatable, Sendable {
  var layout: PythonMarshal.CodeLayout
  var name: String
  package var argumentCount: Int
  var keywordOnlyCount: Int
  var stackSize: Int
  var flags: Int
  var code: [UInt8]
  package var constants: [PythonMarshal.Value]
  package var names: [String]
  /// Arguments first. From 3.11 on also the cells and what the function encloses.
  var variables: [String]
  /// Variables that inner functions take, up to 3.10.
  var cells: [String]
  /// Variables that are taken from the function around this one.
  var free: [String]

  /// Of generators and coroutines.
  static let generatorFlags = 0x20 | 0x80 | 0x100 | 0x200
}
