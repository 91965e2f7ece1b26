import LibC
import Synchronization

/// An emulated program that performs kernel calls, one at a time, on this process's memory. It
/// requests the pages that a kernel touches, and returns changed data.
final class Emulator: Sendable {
  static let shared = Emulator()

  let constants: EmulatedConstants
  private let calls: Int32
  private let answers: Int32
  /// A pipe through which a page is copied that may not exist.
  private let probe: (read: Int32, write: Int32)
  private let turn = Mutex(())

  /// Starts the program at the path in `ASSAY_ARM64`.
  private init() {
    guard let program = getenv("ASSAY_ARM64") else { fatalError("ASSAY_ARM64 names no program") }
    probe = Self.pipeEnds()
    for _ in 0..<16 {
      let (child, calls, answers) = Self.start(program)
      guard let constants = Self.receive(EmulatedConstants.self, from: answers) else {
        fatalError("qemu-aarch64 does not run \(String(cString: program))")
      }
      if Self.sharesAddresses(with: child) {
        close(calls)
        close(answers)
        continue
      }
      let own = EmulatedConstants()
      precondition(
        constants.callByteCount == own.callByteCount
          && constants.argumentByteCounts == own.argumentByteCounts,
        "the arguments are laid out differently")
      self.constants = constants
      self.calls = calls
      self.answers = answers
      return
    }
    fatalError("the emulator takes the addresses of this process")
  }

  func perform(_ call: KernelCall) -> KernelAnswer {
    turn.withLock { _ in
      withUnsafeBytes(of: call) { Self.send($0, to: calls) }
      while true {
        guard let kind = Self.receive(UInt8.self, from: answers),
          let address = Self.receive(UInt.self, from: answers),
          let count = Self.receive(Int.self, from: answers)
        else { fatalError("the emulated kernel has ended: \(call)") }
        switch kind {
        case UInt8(ascii: "P"): lend(address, call)
        case UInt8(ascii: "W"):
          guard let target = UnsafeMutableRawPointer(bitPattern: address),
            Self.receive(into: target, count, from: answers)
          else { fatalError("the kernel wrote to \(String(address, radix: 16)): \(call)") }
        default:
          guard let answer = Self.receive(KernelAnswer.self, from: answers) else {
            fatalError("the emulated kernel has ended: \(call)")
          }
          return answer
        }
      }
    }
  }

  private func lend(_ address: UInt, _ call: KernelCall) {
    var page = [UInt8](repeating: 0, count: 4096)
    // An unreadable page makes this fail, instead of causing a signal.
    guard write(probe.write, UnsafeRawPointer(bitPattern: address), 4096) == 4096 else {
      fatalError("the kernel touched \(String(address, radix: 16)): \(call)")
    }
    page.withUnsafeMutableBytes { bytes in
      guard let base = bytes.baseAddress else { return }
      _ = Self.receive(into: base, 4096, from: probe.read)
    }
    ([1] + page).withUnsafeBytes { Self.send($0, to: calls) }
  }

  // MARK: The process

  private static func pipeEnds() -> (read: Int32, write: Int32) {
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0 else { fatalError("no pipe") }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return (ends[0], ends[1])
  }

  private static func start(
    _ program: UnsafeMutablePointer<CChar>
  ) -> (child: pid_t, calls: Int32, answers: Int32) {
    let (input, calls) = pipeEnds()
    let (answers, output) = pipeEnds()
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    posix_spawn_file_actions_adddup2(&actions, input, 0)
    posix_spawn_file_actions_adddup2(&actions, output, 1)
    var arguments = [strdup("qemu-aarch64"), program, nil]
    var child: pid_t = 0
    guard posix_spawnp(&child, "qemu-aarch64", &actions, nil, &arguments, environ) == 0 else {
      fatalError("qemu-aarch64 is missing; Debian has it in qemu-user")
    }
    close(input)
    close(output)
    return (child, calls, answers)
  }

  /// Whether the emulator itself uses addresses of this process's memory, which the emulated
  /// program would confuse.
  private static func sharesAddresses(with child: pid_t) -> Bool {
    let own = mappings("/proc/self/maps")
    let others = mappings("/proc/\(child)/maps")
    return own.contains { range in others.contains { $0.overlaps(range) } }
  }

  private static func mappings(_ path: String) -> [Range<UInt>] {
    guard let file = fopen(path, "re") else { return [] }
    defer { fclose(file) }
    var result: [Range<UInt>] = []
    var line = [CChar](repeating: 0, count: 4096)
    while fgets(&line, Int32(line.count), file) != nil {
      let text = line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
      let bounds = String(decoding: text.prefix { $0 != UInt8(ascii: " ") }, as: UTF8.self)
        .split(separator: "-").compactMap { UInt($0, radix: 16) }
      // Higher addresses belong to the kernel.
      if bounds.count == 2, bounds[0] < bounds[1], bounds[1] <= 1 << 47 {
        result.append(bounds[0]..<bounds[1])
      }
    }
    return result
  }

  // MARK: Bytes

  private static func send(_ bytes: UnsafeRawBufferPointer, to end: Int32) {
    var rest = bytes
    while !rest.isEmpty {
      let count = write(end, rest.baseAddress, rest.count)
      guard count > 0 else { return }
      rest = UnsafeRawBufferPointer(rebasing: rest[count...])
    }
  }

  private static func receive(
    into target: UnsafeMutableRawPointer, _ count: Int, from end: Int32
  ) -> Bool {
    var done = 0
    while done < count {
      let count = read(end, target + done, count - done)
      guard count > 0 else { return false }
      done += count
    }
    return true
  }

  private static func receive<Value>(_: Value.Type, from end: Int32) -> Value? {
    withUnsafeTemporaryAllocation(of: Value.self, capacity: 1) { place in
      guard let base = place.baseAddress,
        receive(into: UnsafeMutableRawPointer(base), MemoryLayout<Value>.size, from: end)
      else { return nil }
      return base.pointee
    }
  }
}
