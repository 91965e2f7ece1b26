import FuzzTargets
import TensorCore

/// The arguments of `assay-mutants`.
struct Arguments {
  static let usage = """
    usage: assay-mutants TARGET… | all  [options]

      --seed S         the number of the first mutant (1)
      --count N        mutants of each target (1000)
      --seeds DIR      files to change; repeatable (Fixtures)
      --findings DIR   where mutants that did harm go (findings)
      --scratch DIR    where mutants are while they are tried (the temporary folder)
      --jobs J         processes (1)
      --seconds T      for one mutant (2)
      --megabytes M    for one mutant (256)
      --program PATH   run this assay on the mutants instead of its code in process
      --write          write the mutants to the findings' folder, and try none

    Targets: \(FuzzTarget.all.map(\.name).joined(separator: ", "))
    """

  var targets: [FuzzTarget] = []
  var seed: UInt64 = 1
  var count = 1000
  var seeds: [String] = []
  var findings = "findings"
  var scratch = ""
  var jobs = 1
  var seconds = 2.0
  var megabytes = 256
  var program: String?
  var writesMutants = false
  /// In a process that tries mutants, the file in which it records its progress.
  var state: String?

  /// - Throws: a message for the user.
  init(_ words: [String]) throws(Misuse) {
    var rest = words[...]
    func value(_ option: String) throws(Misuse) -> String {
      guard let value = rest.popFirst() else { throw Misuse("\(option) needs a value") }
      return value
    }
    func number<Number: LosslessStringConvertible>(_ option: String) throws(Misuse) -> Number {
      let text = try value(option)
      guard let number = Number(text) else { throw Misuse("\(option): '\(text)' is not a number") }
      return number
    }
    while let word = rest.popFirst() {
      switch word {
      case "--seed": seed = try number(word)
      case "--count": count = try number(word)
      case "--seeds": seeds.append(try value(word))
      case "--findings": findings = try value(word)
      case "--scratch": scratch = try value(word)
      case "--jobs": jobs = try number(word)
      case "--seconds": seconds = try number(word)
      case "--megabytes": megabytes = try number(word)
      case "--program": program = try value(word)
      case "--write": writesMutants = true
      case "--state": state = try value(word)
      case "all": targets += FuzzTarget.all
      default:
        guard let target = FuzzTarget.named(word) else {
          throw Misuse("there is no target '\(word)'\n\n\(Self.usage)")
        }
        targets.append(target)
      }
    }
    if targets.isEmpty || count < 1 || jobs < 1 { throw Misuse(Self.usage) }
    if seeds.isEmpty { seeds = ["Fixtures"] }
  }

  struct Misuse: Error {
    let text: String
    init(_ text: String) { self.text = text }
  }
}
