import FuzzSupport
import FuzzTargets
import LibC

/// Runs processes that try mutants, and continues after one that ended or was killed.
struct Supervisor {
  let arguments: Arguments
  let target: FuzzTarget

  /// The time beyond the limit after which a mutant's process is killed.
  private static let patience = 5.0

  private struct Job {
    var process: pid_t = 0
    /// The numbers of the mutants, counted from the first of all.
    var first: Int
    let end: Int
    let state: State
    let statePath: String
    let messages: String
    /// The time at which the process was started.
    var start: Int64 = 0
  }

  /// - Returns: the number of findings.
  func run() throws -> Int {
    let begin = State.now
    var findings = 0
    let share = (arguments.count + arguments.jobs - 1) / arguments.jobs
    var jobs: [Job] = []
    for index in 0..<arguments.jobs where index * share < arguments.count {
      let path = "\(arguments.scratch)/state-\(getpid())-\(target.name)-\(index)"
      guard let state = State(path) else { throw Finding("\(path) cannot be written") }
      jobs.append(
        Job(
          first: index * share, end: min(arguments.count, (index + 1) * share), state: state,
          statePath: path, messages: path + ".messages"))
    }
    defer {
      for job in jobs {
        unlink(job.statePath)
        unlink(job.messages)
      }
    }
    for index in jobs.indices { try start(&jobs[index]) }
    while jobs.contains(where: { $0.process != 0 }) {
      usleep(5000)
      for index in jobs.indices where jobs[index].process != 0 {
        guard let complaint = try watch(&jobs[index]) else { continue }
        findings += 1
        let number = jobs[index].first + jobs[index].state.current
        let seeds = target.seeds(below: arguments.seeds)
        let mutant = target.mutant(
          arguments.seed &+ UInt64(number), of: seeds, target.mutator(seeds))
        Findings(arguments, target).add(number, mutant, complaint)
        say("\(target.name)-\(arguments.seed &+ UInt64(number)): \(complaint)")
        jobs[index].first = number + 1
        if jobs[index].first < jobs[index].end { try start(&jobs[index]) }
      }
    }
    report(jobs.map(\.state), findings, State.now - begin)
    return findings
  }

  private func report(_ states: [State], _ endings: Int, _ time: Int64) {
    let longest = states.map(\.longest).max() ?? 0
    let largest = states.map(\.largest).max() ?? 0
    say(
      """
      \(target.name): \(arguments.count) mutants from \(arguments.seed), \
      \(states.reduce(0) { $0 + $1.accepted }) accepted, \
      \(states.reduce(0) { $0 + $1.refused }) refused, \(endings) crashed or hung, longest \
      \(longest / 1_000_000) ms, largest \(largest >> 20) MiB, \(time / 1_000_000_000) s
      """)
  }

  /// The finding about the process's mutant, if it ended the process or takes too long.
  private func watch(_ job: inout Job) throws -> String? {
    var status: Int32 = 0
    if waitpid(job.process, &status, WNOHANG) == job.process {
      job.process = 0
      if status == 0 { return nil }
      let signal = status & 0x7F
      let said = Self.lastLine(job.messages)
      if signal == 0, (status >> 8) & 0xFF == 3 { throw Finding(said) }
      return (signal != 0 ? "ended by signal \(signal)" : "ended with code \(status >> 8)")
        + (said.isEmpty ? "" : ": \(said)")
    }
    let begin = job.state.begin
    let programs = arguments.program == nil ? 1.0 : 30.0
    guard begin != 0, begin >= job.start,
      Double(State.now - begin) > arguments.seconds * Self.patience * programs * 1e9
    else { return nil }
    kill(job.process, SIGKILL)
    waitpid(job.process, &status, 0)
    job.process = 0
    return "hung for \((State.now - begin) / 1_000_000) ms"
  }

  private func start(_ job: inout Job) throws {
    job.start = State.now
    job.state.begin = 0
    job.state.current = 0
    var words = [
      "assay-mutants", target.name, "--seed", "\(arguments.seed &+ UInt64(job.first))", "--count",
      "\(job.end - job.first)", "--findings", arguments.findings, "--scratch", arguments.scratch,
      "--seconds", "\(arguments.seconds)", "--megabytes", "\(arguments.megabytes)", "--state",
      job.statePath,
    ]
    for folder in arguments.seeds { words += ["--seeds", folder] }
    if let program = arguments.program { words += ["--program", program] }
    job.process = try Subprocess.start(Self.ownPath, words, messages: job.messages)
  }

  private static let ownPath: String = {
    #if os(Linux)
      "/proc/self/exe"
    #else
      CommandLine.arguments[0]
    #endif
  }()

  /// The line of the process's messages that says why it ended.
  private static func lastLine(_ path: String) -> String {
    guard let file = fopen(path, "r") else { return "" }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 1024)
    var last = ""
    while fgets(&line, Int32(line.count), file) != nil {
      let bytes = line.prefix { $0 != 0 && $0 != 10 }.map { UInt8(bitPattern: $0) }
      let text = String(decoding: bytes, as: UTF8.self)
      if text.contains("Fatal error") || last.isEmpty { last = text }
    }
    return last
  }
}
