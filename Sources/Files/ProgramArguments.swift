import CSystem

/// The program's command-line arguments.
package enum ProgramArguments {
  /// All arguments without the program's name. Swift's own list is empty if there is no `/proc`.
  package static var all: [String] {
    let count = assay_argument_count()
    guard count > 0 else { return Array(CommandLine.arguments.dropFirst()) }
    return (1..<count).compactMap { assay_argument($0).map { String(cString: $0) } }
  }
}
