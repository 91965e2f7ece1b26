import Foundation
import FuzzSupport
import FuzzTargets
import LibC
import TensorCore

/// Tries mutants one after the other, in this process. A trap ends the process, and a hang never
/// does, so `Supervisor` watches.
struct Trial {
  let arguments: Arguments
  let target: FuzzTarget
  let state: State

  /// The address space beyond which allocations fail.
  private static let addressSpace: rlim_t = 6 << 30

  func run() throws {
    #if os(Linux)
      var limit = rlimit(rlim_cur: Self.addressSpace, rlim_max: Self.addressSpace)
      setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit)
    #endif
    let seeds = target.seeds(below: arguments.seeds)
    let mutator = target.mutator(seeds)
    // As with `--max-memory`.
    MemoryBudget.allow(arguments.megabytes << 20)
    let path = "\(arguments.scratch)/mutant-\(getpid())\(target.suffix)"
    defer { unlink(path) }
    let commands = arguments.program.map { CommandContract($0, scratch: arguments.scratch) }
    for number in 0..<arguments.count {
      let mutant = target.mutant(arguments.seed &+ UInt64(number), of: seeds, mutator)
      guard FileManager.default.createFile(atPath: path, contents: Data(mutant)) else {
        throw Finding("\(path) cannot be written")
      }
      state.current = number
      ResidentMemory.resetPeak()
      let before = ResidentMemory.own.current
      let begin = State.now
      state.begin = begin
      var complaint: String?
      if let commands {
        let breaches = try commands.breaches(
          path, seconds: arguments.seconds, megabytes: arguments.megabytes)
        complaint = breaches.isEmpty ? nil : breaches.joined(separator: "; ")
        state.accepted += 1
      } else {
        do {
          switch try target.outcome(path, mutant) {
          case .accepted: state.accepted += 1
          case .refused: state.refused += 1
          }
        } catch { complaint = "\(error)" }
      }
      let time = State.now - begin
      let memory = max(0, ResidentMemory.own.peak - before)
      state.longest = max(state.longest, time)
      state.largest = max(state.largest, memory)
      if commands == nil {
        if Double(time) > arguments.seconds * 1e9 {
          complaint = "took \(time / 1_000_000) ms\(complaint.map { "; \($0)" } ?? "")"
        }
        if memory > arguments.megabytes << 20 {
          complaint = "took \(memory >> 20) MiB\(complaint.map { "; \($0)" } ?? "")"
        }
      }
      if let complaint {
        Findings(arguments, target).add(number, mutant, complaint)
      }
    }
    state.begin = 0
  }
}

/// Mutants that did harm, and their effects.
struct Findings {
  private let arguments: Arguments
  private let target: FuzzTarget

  init(_ arguments: Arguments, _ target: FuzzTarget) {
    self.arguments = arguments
    self.target = target
  }

  func add(_ number: Int, _ mutant: [UInt8], _ complaint: String) {
    let name = "\(target.name)-\(arguments.seed &+ UInt64(number))"
    write(mutant, as: name)
    let line = "\(name): \(complaint.escapingControls())\n"
    let descriptor = open(
      "\(arguments.findings)/findings.txt", O_WRONLY | O_CREAT | O_APPEND, 0o644)
    guard descriptor >= 0 else { return }
    _ = Array(line.utf8).withUnsafeBytes { LibC.write(descriptor, $0.baseAddress, $0.count) }
    close(descriptor)
  }

  func write(_ mutant: [UInt8], as name: String) {
    _ = FileManager.default.createFile(
      atPath: "\(arguments.findings)/\(name)\(target.suffix)", contents: Data(mutant))
  }
}
