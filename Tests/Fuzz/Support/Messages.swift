import Foundation

/// Writes a line to standard output, unbuffered.
package func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }

/// Writes a line of error.
package func complain(_ line: String) {
  FileHandle.standardError.write(Data("error: \(line)\n".utf8))
}
