import ArgumentParser
import Assay
import CoreMLModel
import Engine
import TensorCore

struct BenchCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "bench", abstract: "Times predictions.",
    discussion: """
      Load time is from opening the file to a network ready to run; the first run is timed apart. \
      With --json: first {"load_ms": …, "first_ms": …}, then a line {"ms": …} for each timed run.
      """)

  @Argument(help: "The model.", completion: .file(extensions: ["mlmodel"]))
  var model: String

  @Option(
    name: .customLong("input"),
    help: ArgumentHelp("A picture or array; random values by default.", valueName: "FILE"),
    completion: .file())
  var inputs: [String] = []

  @Option(help: "Seed of the random values.")
  var seed: UInt64 = 0

  @Option(help: "Layout of array inputs.")
  var layout = ArrayLayout.source

  @OptionGroup var engine: EngineArguments

  @Option(help: "Runs before the timed ones, the first run not counted.")
  var warmup = 2

  @Option(help: "Timed runs, at least.")
  var runs = 20

  @Option(help: "Time to fill with timed runs, at least.")
  var minSeconds = 0.0

  @Flag(help: "A table of all steps, from a run of its own.")
  var layers = false

  @Flag(help: "JSON lines.")
  var json = false

  @OptionGroup var global: GlobalOptions

  func validate() throws {
    if runs < 1 || warmup < 0 || !(minSeconds >= 0) {
      throw ValidationError("--runs takes a number from 1, --warmup and --min-seconds from 0")
    }
  }

  func run() throws {
    global.apply()
    try inFile(model) { try measure() }
  }

  private func measure() throws {
    let clock = ContinuousClock()
    let start = clock.now
    let document = try Model(contentsOf: model)
    var options = Predictor.Options()
    options.layout = layout
    options.engine = engine.compileOptions
    let steps = StepLog()
    let predictor = try Predictor(model: document, options: options)
    let blobs = try self.blobs(predictor, document)
    let network = try predictor.network(for: blobs)
    let load = clock.now - start
    let first = try clock.measure { _ = try network.predict(blobs) }
    if json {
      Console.print(
        "{\"load_ms\": \(Self.milliseconds(load)), \"first_ms\": \(Self.milliseconds(first))}")
    }
    for _ in 0..<warmup { _ = try network.predict(blobs) }
    var times: [Double] = []
    let progress = Progress("assay bench", enabled: !global.quiet && !json)
    let begin = clock.now
    while times.count < runs || clock.now - begin < .seconds(minSeconds) {
      let time = try clock.measure { _ = try network.predict(blobs) }
      times.append(Self.value(time))
      progress.update(times.count, of: runs)
      if json { Console.print("{\"ms\": \(Self.milliseconds(time))}") }
    }
    progress.finish()
    if !json { Console.write(Self.summary(times, load: load, first: first, network: network)) }
    if layers {
      var profiled = options
      profiled.engine.hooks.onStep = { steps.append($0) }
      let other = try Predictor(model: document, options: profiled).network(for: blobs)
      for _ in 0...max(1, warmup) {
        steps.clear()
        _ = try other.predict(blobs)
      }
      Console.write(steps.table())
    }
  }

  private func blobs(_ predictor: Predictor, _ document: Model) throws -> [String: Tensor] {
    guard inputs.isEmpty else {
      let sources = try InputSource.resolve(inputs, for: document) { [] }
      guard let source = sources.first else { throw ModelError(.mismatch, "there is no input") }
      return try predictor.blobs(source.read(for: document))
    }
    return try predictor.randomBlobs(seed: seed)
  }

  private static func value(_ duration: Duration) -> Double {
    let (seconds, attoseconds) = duration.components
    return Double(seconds) * 1e3 + Double(attoseconds) * 1e-15
  }

  private static func milliseconds(_ duration: Duration) -> String {
    fixedText(value(duration), decimals: 4)
  }

  private static func summary(
    _ times: [Double], load: Duration, first: Duration, network: CompiledNetwork
  ) -> String {
    let sorted = times.sorted()
    func percentile(_ share: Double) -> Double {
      sorted[min(sorted.count - 1, Int((share * Double(sorted.count - 1)).rounded()))]
    }
    let mean = times.reduce(0, +) / Double(times.count)
    func row(_ name: String, _ value: Double) -> String {
      "\(name.padded(to: 10)) \(fixedText(value, decimals: 3).leftPadded(to: 12)) ms\n"
    }
    return row("load", value(load)) + row("first", value(first)) + row("minimum", sorted[0])
      + row("median", percentile(0.5)) + row("mean", mean) + row("p90", percentile(0.9))
      + row("p99", percentile(0.99))
      + "\(times.count) runs, \(network.threadCount) threads, \(network.instructionSet), "
      + "peak memory \(groupedText(peakMemoryBytes() >> 20)) MiB "
      + "(weights packed \(groupedText(network.packedWeightBytes >> 20)), "
      + "arena \(groupedText(network.arenaBytes >> 20)))\n"
  }
}
