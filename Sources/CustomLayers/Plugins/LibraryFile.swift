import LibC
import TensorCore

/// Detects from a file's first bytes the system that a library was built for, which the dynamic
/// loader's messages do not tell.
enum LibraryFile {
  static func check(_ path: String) throws {
    var status = stat()
    try require(
      stat(path, &status) == 0, .missingFile, "cannot be read: \(String(cString: strerror(errno)))",
      hint:
        "\(setting: "plugin") takes the .so or .dylib that `swift build -c release` writes to .build/release"
    )
    try require(
      status.st_mode & S_IFMT == S_IFREG, .unsupported,
      "the plug-in is a folder or a device, not a file")
    let file = open(path, O_RDONLY | O_CLOEXEC)
    try require(file >= 0, .missingFile, "cannot be read: \(String(cString: strerror(errno)))")
    defer { close(file) }
    var head = [UInt8](repeating: 0, count: 20)
    let count = read(file, &head, head.count)
    guard let found = system(of: head.prefix(max(0, count))) else {
      throw ModelError(
        .unsupported, "the file is not a library",
        hint:
          "\(setting: "plugin") takes the .so or .dylib that `swift build -c release` writes to .build/release"
      )
    }
    try require(
      found == own, .unsupported, "the plug-in is built for \(found), but this program for \(own)",
      hint: "build it on this system, with `swift build -c release` in its package")
  }

  /// The system, if it is an ELF or Mach-O file.
  static func system(of head: ArraySlice<UInt8>) -> String? {
    let head = Array(head)
    guard head.count == 20 else { return nil }
    if Array(head[0..<4]) == [0x7f, 0x45, 0x4c, 0x46] {
      // EI_CLASS, EI_DATA, e_machine.
      guard head[4] == 2, head[5] == 1 else { return "a 32-bit or big-endian processor" }
      return switch UInt16(head[18]) | UInt16(head[19]) << 8 {
      case 62: "x86-64 (ELF)"
      case 183: "arm64 (ELF)"
      case let machine: "another processor (ELF machine \(machine))"
      }
    }
    let word =
      UInt32(head[0]) | UInt32(head[1]) << 8 | UInt32(head[2]) << 16 | UInt32(head[3]) << 24
    switch word {
    case 0xfeed_facf: return head[4] == 7 ? "x86-64 (Mach-O)" : "arm64 (Mach-O)"
    // The loader takes the matching part of a universal file.
    case 0xbeba_feca: return own.contains("Mach-O") ? own : "macOS"
    default: return nil
    }
  }

  static var own: String {
    #if os(Linux)
      let format = "ELF"
    #else
      let format = "Mach-O"
    #endif
    #if arch(x86_64)
      return "x86-64 (\(format))"
    #else
      return "arm64 (\(format))"
    #endif
  }
}
