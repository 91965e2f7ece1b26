import Foundation
import FuzzSupport
import FuzzTargets
import LibC

/// Tries mutants of files on the program's code: equal numbers make equal mutants of the same
/// seeds.
@main enum Main {
  static func main() {
    do {
      var arguments = try Arguments(Array(CommandLine.arguments.dropFirst()))
      if arguments.scratch.isEmpty {
        arguments.scratch = FileManager.default.temporaryDirectory.path
      }
      try FileManager.default.createDirectory(
        atPath: arguments.findings, withIntermediateDirectories: true)
      if let path = arguments.state {
        guard let state = State(path) else { exit(3) }
        try Trial(arguments: arguments, target: arguments.targets[0], state: state).run()
        return
      }
      for target in arguments.targets { try run(target, arguments) }
      let found = FileManager.default.fileExists(atPath: arguments.findings + "/findings.txt")
      exit(found ? 1 : 0)
    } catch let misuse as Arguments.Misuse {
      complain(misuse.text)
      exit(64)
    } catch {
      complain("\(error)")
      exit(3)
    }
  }

  private static func run(_ target: FuzzTarget, _ arguments: Arguments) throws {
    guard arguments.writesMutants else {
      _ = try Supervisor(arguments: arguments, target: target).run()
      return
    }
    let seeds = target.seeds(below: arguments.seeds)
    let mutator = target.mutator(seeds)
    let findings = Findings(arguments, target)
    for number in 0..<UInt64(arguments.count) {
      let number = arguments.seed &+ number
      findings.write(target.mutant(number, of: seeds, mutator), as: "\(target.name)-\(number)")
    }
  }
}
