/// The report of `bench` about a measurement.
struct BenchReport {
  private let network: CompiledNetwork
  private let timings: Timings
  private let load: Duration
  private let first: Duration
  /// The peak memory after all runs.
  private let peakMemory: Int
  private let filePages: Int?
  /// The inputs; nil for random values.
  var inputs: String?
  var inputShapes: [(name: String, shape: [Int])] = []
  var seed: UInt64 = 0
  var hasRandomWeights = false
  /// The shortest time with subnormals flushed to zero, in milliseconds; nil without subnormals.
  var flushed: Double?
  var warmup = 0
  var arithmetic = ComputePrecision.float32
  /// The largest difference from single precision, relative to the largest value of the output.
  var largestError: Float?
  /// The peak operations per second of one thread and of all threads.
  private(set) var peak: (one: Double, all: Double)?
  private var comparison: TimingComparison?
  private var earlier: EarlierResult?

  init(_ network: CompiledNetwork, _ timings: Timings, load: Duration, first: Duration) {
    (self.network, self.timings, self.load, self.first) = (network, timings, load, first)
    peakMemory = peakMemoryBytes()
    filePages = filePageBytes()
  }

  mutating func measurePeak() {
    let one = PeakRate.measure(network.instructionSet, threads: 1)
    let threads = network.threadCount
    peak = (one, threads == 1 ? one : PeakRate.measure(network.instructionSet, threads: threads))
  }

  mutating func compare(with earlier: EarlierResult) {
    self.earlier = earlier
    comparison = TimingComparison(timings, against: earlier.timings)
  }

  private var multiplyAdds: Int { network.steps.reduce(0) { $0 + $1.multiplyAdds } }
  /// Operations per second in the shortest run; a multiply-add counts as two.
  private var speed: Double { 2 * Double(multiplyAdds) / (timings.minimum * 1e-3) }

  private var integerSteps: Int { network.steps.count { $0.usesIntegers } }

  // MARK: JSON

  static func firstLine(load: Duration, first: Duration) -> JSONText {
    .versioned([
      "load_ms": load.milliseconds.json(decimals: 4),
      "first_ms": first.milliseconds.json(decimals: 4),
    ])
  }

  static func line(_ milliseconds: Double) -> JSONText {
    .versioned(["ms": milliseconds.json(decimals: 4)])
  }

  var json: JSONText {
    .versioned([
      "runs": timings.count, "minimum_ms": timings.minimum.json(decimals: 4),
      "median_ms": timings.median.json(decimals: 4), "mean_ms": timings.mean.json(decimals: 4),
      "p90_ms": timings.percentile(0.9).json(decimals: 4),
      "p99_ms": timings.percentile(0.99).json(decimals: 4), "multiply_adds": multiplyAdds,
      "gflops": (speed / 1e9).json(decimals: 2), "threads": network.threadCount,
      "instruction_set": network.instructionSet.rawValue, "peak_memory_bytes": peakMemory,
      "packed_weight_bytes": network.packedWeightBytes, "arena_bytes": network.arenaBytes,
      "random_weights": hasRandomWeights, "arithmetic": arithmetic.rawValue,
      "integer_steps": largestError.map { _ in integerSteps.json }.ifPresent,
      "largest_error": largestError.map { Double($0).json }.ifPresent,
      "inputs": JSONText.members(inputShapes.map { ($0.name, $0.shape.json) }),
      "flushed_ms": flushed.map { $0.json(decimals: 4) }.ifPresent,
      "file_page_bytes": filePages.ifPresent,
      "peak_gflops_one_thread": peak.map { ($0.one / 1e9).json(decimals: 2) }.ifPresent,
      "peak_gflops": peak.map { ($0.all / 1e9).json(decimals: 2) }.ifPresent,
      "against": (comparison?.verdict.rawValue).ifPresent,
      "ratio": comparison.map { $0.ratio.json(decimals: 4) }.ifPresent,
    ])
  }

  // MARK: Text

  var text: String { rows.map { $0.label.padded(to: 10) + $0.text + "\n" }.joined() }

  /// The names and values in the report.
  var rows: [(label: String, text: String)] {
    func time(_ name: String, _ milliseconds: Double, _ remark: String = "") -> (String, String) {
      (name, fixedText(milliseconds, decimals: 3).leftPadded(to: 11) + " ms" + remark)
    }
    var rows = [(label: "input", text: inputText)]
    if hasRandomWeights {
      rows.append(("weights", "random (seed \(seed)), because the file has none"))
    }
    rows += [
      time("load", load.milliseconds), time("first", first.milliseconds),
      time("minimum", timings.minimum, speedText), time("median", timings.median),
      time("mean", timings.mean), time("p90", timings.percentile(0.9)),
      time("p99", timings.percentile(0.99)),
      ("runs", "\(timings.count), after the first and \(warmup) more"),
    ]
    let threads = counted(network.threadCount, "thread")
    rows.append(("machine", "\(network.instructionSet.rawValue), \(threads)\(peakText)"))
    if let largestError {
      rows.append(
        (
          "fast",
          "integers in \(counted(integerSteps, "step")), largest error "
            + "\(numberText(Double(largestError), digits: 3)) of the largest output in float32"
        ))
    }
    rows.append(("memory", memoryText))
    if let flushed, flushed < 0.9 * timings.minimum {
      rows.append(
        time("subnormal", flushed, " if numbers below 1.2e-38, which are slow, were zero"))
    }
    if let comparison, let earlier { rows.append(("against", comparisonText(comparison, earlier))) }
    return rows
  }

  private var inputText: String {
    let shapes = inputShapes.map { "\(Console.escaped($0.name)) \($0.shape)" }
      .joined(separator: ", ")
    return "\(shapes), " + (inputs.map(Console.escaped) ?? "random values (seed \(seed))")
  }

  private var speedText: String {
    guard multiplyAdds > 0 else { return "" }
    let share = peak.map { ", \(fixedText(100 * speed / $0.all, decimals: 0))% of peak" } ?? ""
    return "  \(groupedText(multiplyAdds)) multiply-adds, "
      + "\(fixedText(speed / 1e9, decimals: 1)) GFLOP/s\(share)"
  }

  private var peakText: String {
    guard let peak else { return "" }
    let all = "; peak \(fixedText(peak.all / 1e9, decimals: 1)) GFLOP/s"
    if network.threadCount == 1 { return all }
    return all + ", \(fixedText(peak.one / 1e9, decimals: 1)) on one thread"
  }

  private var memoryText: String {
    func mebibytes(_ bytes: Int) -> String {
      fixedText(Double(bytes) / 0x1p20, decimals: 1) + " MiB"
    }
    let rest = peakMemory - network.packedWeightBytes - network.arenaBytes - (filePages ?? 0)
    let files = filePages.map { ", \(mebibytes($0)) pages of files" } ?? ""
    return "\(mebibytes(peakMemory)) peak: \(mebibytes(network.packedWeightBytes)) packed "
      + "weights, \(mebibytes(network.arenaBytes)) arena\(files), \(mebibytes(max(0, rest))) everything else"
  }

  private func comparisonText(_ comparison: TimingComparison, _ earlier: EarlierResult) -> String {
    let change = 100 * (comparison.ratio - 1)
    let ratio = "\(change < 0 ? "" : "+")\(fixedText(change, decimals: 1))%"
    var text =
      "minimum \(fixedText(earlier.timings.minimum, decimals: 3)) ms, median "
      + "\(fixedText(earlier.timings.median, decimals: 3)) ms before: "
    switch comparison.verdict {
    case .same: text += "the same within noise (\(ratio))"
    case .faster: text += "faster now (\(ratio))"
    case .slower: text += "slower now (\(ratio))"
    case .tooFewRuns: text += "too few runs to tell (\(ratio))"
    }
    if let threads = earlier.threadCount, threads != network.threadCount {
      text += "; the earlier run used \(counted(threads, "thread"))"
    }
    if let set = earlier.instructionSet, set != network.instructionSet.rawValue {
      text += "; the earlier run used \(Console.escaped(set))"
    }
    return text
  }
}
