import LibC

/// Standard input, output and error of the process.
package enum StandardStreams {
  /// Opens a folder, which can be neither read nor written, for each closed stream. Otherwise, a
  /// file opened later would receive what is printed.
  package static func reserveClosed() {
    for number: Int32 in 0...2 where fcntl(number, F_GETFD) < 0 { _ = open("/", O_RDONLY) }
  }
}
