import Foundation

/// A line on standard output, at once.
package func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }

/// A line of error.
package func complain(_ line: String) {
  FileHandle.standardError.write(Data("error: \(line)\n".utf8))
}
