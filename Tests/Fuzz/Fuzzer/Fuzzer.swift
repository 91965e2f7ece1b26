import Foundation
import FuzzSupport
import FuzzTargets
import LibC
import TensorCore

/// libFuzzer's loop over one target. The variable FUZZ_TARGET names the target, FUZZ_SEEDS the
/// folders of seeds; the arguments are libFuzzer's.
@main enum Main {
  static func main() {
    var count = CommandLine.argc
    var words = CommandLine.unsafeArgv
    exit(runDriver(&count, &words) { testOneInput($0, $1) })
  }
}

@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
  _ count: UnsafeMutablePointer<Int32>,
  _ words: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
  _ test: @convention(c) (UnsafePointer<UInt8>?, Int) -> Int32
) -> Int32

private struct Fuzzer: Sendable {
  let target: FuzzTarget
  let mutator: FuzzTarget.Mutator
  let path: String

  static let shared: Fuzzer = {
    let variables = ProcessInfo.processInfo.environment
    guard let target = variables["FUZZ_TARGET"].flatMap(FuzzTarget.named) else {
      complain("FUZZ_TARGET is none of \(FuzzTarget.all.map(\.name).joined(separator: " "))")
      exit(64)
    }
    let folders = (variables["FUZZ_SEEDS"] ?? "Fixtures").split(separator: ":").map(String.init)
    let folder = FileManager.default.temporaryDirectory.path
    return Fuzzer(
      target: target, mutator: target.mutator(target.seeds(below: folders)),
      path: "\(folder)/fuzzed-\(getpid())\(target.suffix)")
  }()
}

private func testOneInput(_ data: UnsafePointer<UInt8>?, _ size: Int) -> Int32 {
  let bytes = Array(UnsafeBufferPointer(start: data, count: size))
  let fuzzer = Fuzzer.shared
  guard FileManager.default.createFile(atPath: fuzzer.path, contents: Data(bytes)) else {
    return -1
  }
  do { _ = try fuzzer.target.outcome(fuzzer.path, bytes) } catch {
    fatalError("\(error)")
  }
  return 0
}

/// The name of the function that libFuzzer looks for.
@_cdecl("LLVMFuzzerCustomMutator")
public func mutate(
  _ data: UnsafeMutablePointer<UInt8>?, _ size: Int, _ capacity: Int, _ seed: UInt32
) -> Int {
  let bytes = Array(UnsafeBufferPointer(start: data, count: size))
  var random = SplitMix64(seed: UInt64(seed))
  let mutant = Fuzzer.shared.mutator(bytes, &random)
  guard let data, mutant.count <= capacity else { return size }
  for (index, byte) in mutant.enumerated() { data[index] = byte }
  return mutant.count
}
