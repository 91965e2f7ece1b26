import LibC

/// Standard input, output and error of the process.
package enum StandardStreams {
  /// Gives the numbers of closed streams to a folder, which can be neither read nor written: a file
  /// that is opened later would get what is printed.
  package static func reserveClosed() {
    for number: Int32 in 0...2 where fcntl(number, F_GETFD) < 0 { _ = open("/", O_RDONLY) }
  }
}
