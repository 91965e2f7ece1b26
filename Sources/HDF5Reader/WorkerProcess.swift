import CSystem
import LibC
import TensorCore

/// The descriptor numbers that a worker inherits.
package enum WorkerDescriptor {
  package static let file: Int32 = 3
  package static let frames: Int32 = 4
  package static let region: Int32 = 5
}

/// One run of the worker: starts it, reads its output until it closes the pipe, and waits for its
/// end.
struct WorkerProcess {
  /// How a worker ended.
  enum End: Equatable {
    case exited(Int32)
    case signalled(Int32)
    case timedOut(seconds: Double)
    case tooMuch
  }

  let executable: String
  let timeout: Double

  func run(verb: String, file: Int32, region: Int32?) throws -> (frames: [UInt8], end: End) {
    let pipe = try Pipe()
    let process = try spawn(verb: verb, file: file, frames: pipe.writeEnd, region: region)
    pipe.closeWriteEnd()
    let deadline = now() + timeout
    var frames: [UInt8] = []
    let early = listen(to: pipe.readEnd, until: deadline, &frames)
    let end = wait(for: process, until: early == nil ? deadline : now(), early)
    return (frames, end)
  }

  /// Collects frames until the worker closes its end; otherwise returns why it must be terminated.
  private func listen(to descriptor: Int32, until deadline: Double, _ frames: inout [UInt8]) -> End?
  {
    var piece = [UInt8](repeating: 0, count: 1 << 18)
    while true {
      var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      let rest = deadline - now()
      if rest <= 0 { return .timedOut(seconds: timeout) }
      let ready = poll(&request, 1, Int32(min(rest * 1000 + 1, 3_600_000)))
      if ready < 0 && errno != EINTR { return nil }
      if ready <= 0 { continue }
      let count = read(descriptor, &piece, piece.count)
      if count == 0 { return nil }
      if count < 0 {
        if errno == EINTR || errno == EAGAIN { continue }
        return nil
      }
      frames += piece[..<count]
      if frames.count > HDF5Limits.frameBytes + (1 << 20) { return .tooMuch }
    }
  }

  /// Waits for the worker to end, and kills it at the deadline, or immediately if `early` has a
  /// reason.
  private func wait(for process: pid_t, until deadline: Double, _ early: End?) -> End {
    var status: Int32 = 0
    var reason = early
    var pause: UInt32 = 100
    while reason == nil {
      let result = waitpid(process, &status, WNOHANG)
      if result == process { return end(status) }
      if result < 0 && errno != EINTR { return .exited(0) }
      if now() >= deadline {
        reason = .timedOut(seconds: timeout)
      } else {
        usleep(pause)
        pause = min(pause * 2, 10_000)
      }
    }
    // The whole process group, with anything that the worker started.
    kill(-process, SIGKILL)
    while waitpid(process, &status, 0) < 0 && errno == EINTR {}
    return reason ?? end(status)
  }

  private func end(_ status: Int32) -> End {
    let signal = status & 0x7f
    return signal == 0 ? .exited((status >> 8) & 0xff) : .signalled(signal)
  }

  private func now() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
  }

  private func spawn(verb: String, file: Int32, frames: Int32, region: Int32?) throws -> pid_t {
    #if os(Linux)
      var actions = posix_spawn_file_actions_t()
      var attributes = posix_spawnattr_t()
    #else
      var actions: posix_spawn_file_actions_t?
      var attributes: posix_spawnattr_t?
    #endif
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }

    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
    posix_spawn_file_actions_adddup2(&actions, file, WorkerDescriptor.file)
    posix_spawn_file_actions_adddup2(&actions, frames, WorkerDescriptor.frames)
    if let region { posix_spawn_file_actions_adddup2(&actions, region, WorkerDescriptor.region) }
    assay_spawn_close_from(
      &actions, region == nil ? WorkerDescriptor.region : WorkerDescriptor.region + 1)

    var signals = sigset_t()
    sigemptyset(&signals)
    posix_spawnattr_setsigmask(&attributes, &signals)
    sigfillset(&signals)
    posix_spawnattr_setsigdefault(&attributes, &signals)
    // A separate group, because this program handles interrupts from the terminal.
    posix_spawnattr_setpgroup(&attributes, 0)
    var flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP
    #if canImport(Darwin)
      flags |= POSIX_SPAWN_CLOEXEC_DEFAULT
    #endif
    posix_spawnattr_setflags(&attributes, Int16(flags))

    var environment = ["HDF5_USE_FILE_LOCKING=FALSE"]
    // The location of the runtime libraries depends on the installation, not on the file.
    for key in ["LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"] {
      if let value = getenv(key) { environment.append("\(key)=\(String(cString: value))") }
    }
    var process: pid_t = 0
    let words = [WorkerLocation.name, verb] + (HDF5Sandbox.isRequired ? ["confined"] : [])
    let status = withCStrings(words) { arguments in
      withCStrings(environment) { variables in
        posix_spawn(&process, executable, &actions, &attributes, arguments, variables)
      }
    }
    try require(
      status == 0, [EAGAIN, ENOMEM, EMFILE, ENFILE].contains(status) ? .outOfMemory : .internal,
      "cannot start \(executable): \(String(cString: strerror(status)))",
      hint: "set \(WorkerLocation.variable) to use another worker")
    return process
  }

  private func withCStrings<Result>(
    _ strings: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
  ) -> Result {
    let copies: [UnsafeMutablePointer<CChar>?] = strings.map { strdup($0) } + [nil]
    defer { for copy in copies { free(copy) } }
    return body(copies)
  }
}

/// A pipe that no other child process inherits.
private final class Pipe {
  let readEnd: Int32
  private(set) var writeEnd: Int32

  init() throws {
    var ends: [Int32] = [-1, -1]
    guard assay_pipe(&ends) == 0 else {
      throw ModelError(.outOfMemory, "cannot create a pipe: \(String(cString: strerror(errno)))")
    }
    // Descriptors above those that the worker inherits.
    readEnd = fcntl(ends[0], F_DUPFD_CLOEXEC, 10)
    writeEnd = fcntl(ends[1], F_DUPFD_CLOEXEC, 10)
    close(ends[0])
    close(ends[1])
    guard readEnd >= 0, writeEnd >= 0 else {
      throw ModelError(.outOfMemory, "cannot create a pipe: too many open files")
    }
  }

  func closeWriteEnd() {
    close(writeEnd)
    writeEnd = -1
  }

  deinit {
    if readEnd >= 0 { close(readEnd) }
    if writeEnd >= 0 { close(writeEnd) }
  }
}
