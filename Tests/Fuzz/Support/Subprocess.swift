import Foundation
import LibC
import TensorCore

/// A process whose time and memory are measured.
package enum Subprocess {
  package struct Result: Sendable {
    /// The exit code of a process that exited.
    package let code: Int32?
    /// The signal that ended the process.
    package let signal: Int32?
    /// The processor time, including that of its child processes; other work on the machine does
    /// not count.
    package let seconds: Double
    /// The largest resident memory; 0 if unknown. It is sampled, since what the system reports at
    /// the end includes that of the parent process.
    package let peakBytes: Int
  }

  /// Starts the program at `path` as `words[0]`, without input or output.
  ///
  /// - Parameter messages: the file for standard error.
  package static func start(_ path: String, _ words: [String], messages: String) throws -> pid_t {
    try start(path, words, output: "/dev/null", messages: messages)
  }

  /// Runs a program to its end, or for `limit` seconds of wall-clock time.
  package static func run(
    _ path: String, _ words: [String], output: String, messages: String, limit: Double
  ) throws -> Result {
    let clock = ContinuousClock()
    let begin = clock.now
    let process = try start(path, [path] + words, output: output, messages: messages)
    var (status, usage): (Int32, rusage) = (0, rusage())
    var pause: useconds_t = 200
    var peak = 0
    var ends = false
    let memory = ResidentMemory(of: process)
    while wait4(process, &status, ends ? 0 : WNOHANG, &usage) == 0 {
      if clock.now - begin > .seconds(limit) {
        kill(process, SIGKILL)
        ends = true
        continue
      }
      // Until the process runs its program, its peak is that of its parent.
      let sample = memory.peak
      if sample > 0 { peak = sample }
      usleep(pause)
      pause = min(2 * pause, 2000)
    }
    func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) * 1e-6 }
    let signal = status & 0x7F
    return Result(
      code: signal == 0 ? (status >> 8) & 0xFF : nil, signal: signal == 0 ? nil : signal,
      seconds: seconds(usage.ru_utime) + seconds(usage.ru_stime), peakBytes: peak)
  }

  /// A trap should end the process at once.
  private static let environment = ProcessInfo.processInfo.environment
    .merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 }.map { "\($0)=\($1)" }

  private static func start(
    _ path: String, _ words: [String], output: String, messages: String
  ) throws -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    let creates = O_WRONLY | O_CREAT | O_TRUNC
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_addopen(&actions, 1, output, creates, 0o600)
    posix_spawn_file_actions_addopen(&actions, 2, messages, creates, 0o600)
    var arguments = words.map { strdup($0) } + [nil]
    defer { for argument in arguments { free(argument) } }
    var variables = environment.map { strdup($0) } + [nil]
    defer { for variable in variables { free(variable) } }
    var process: pid_t = 0
    let code = posix_spawn(&process, path, &actions, nil, &arguments, &variables)
    try require(
      code == 0, .missingFile, "cannot be started: \(String(cString: strerror(code)))", file: path)
    return process
  }
}
