import Engine
import Foundation
import Kernels

// The fraction of the machine's peak rate that each kind of kernel reaches on layers of common
// networks, for one thread and for all. Operations follow the definition, with two per
// multiply-add; Winograd's algorithm needs fewer.

let layers: [OneLayer] = [
  .convolution("1×1 256 → 64, 56×56", [256, 56, 56], outputs: 64, kernel: 1),
  .convolution("1×1 512 → 512, 14×14", [512, 14, 14], outputs: 512, kernel: 1),
  .convolution("1×1 1024 → 2048, 7×7", [1024, 7, 7], outputs: 2048, kernel: 1),
  .convolution("3×3 64 → 64, 56×56", [64, 56, 56], outputs: 64, kernel: 3),
  .convolution("3×3 256 → 256, 14×14", [256, 14, 14], outputs: 256, kernel: 3),
  .convolution(
    "3×3 128 → 128, 56×56, stride 2", [128, 56, 56], outputs: 128, kernel: 3, stride: 2),
  .convolution("3×3 64 → 64, 56×56", [64, 56, 56], outputs: 64, kernel: 3, .winograd4),
  .convolution("3×3 256 → 256, 14×14", [256, 14, 14], outputs: 256, kernel: 3, .winograd4),
  .convolution("3×3 512 → 512, 28×28", [512, 28, 28], outputs: 512, kernel: 3, .winograd4),
  .convolution("3×3 64 → 64, 224×224", [64, 224, 224], outputs: 64, kernel: 3, .winograd6),
  .convolution("3×3 128 → 128, 112×112", [128, 112, 112], outputs: 128, kernel: 3, .winograd6),
  .convolution("3×3 512 → 512, 28×28", [512, 28, 28], outputs: 512, kernel: 3, .winograd6),
  .convolution(
    "3×3 of each of 64, 112×112", [64, 112, 112], outputs: 64, kernel: 3, isDepthwise: true),
  .convolution(
    "3×3 of each of 512, 14×14", [512, 14, 14], outputs: 512, kernel: 3, isDepthwise: true),
  .dense("dense 2048 → 1000", inputs: 2048, outputs: 1000),
  .dense("dense 25088 → 4096", inputs: 25088, outputs: 4096),
]

func padded(_ text: String, _ width: Int, left: Bool = false) -> String {
  let blanks = String(repeating: " ", count: max(0, width - text.count))
  return left ? blanks + text : text + blanks
}

func fixed(_ value: Double, _ decimals: Int) -> String { String(format: "%.\(decimals)f", value) }

let arguments = Array(CommandLine.arguments.dropFirst())
let seconds = arguments.first.flatMap(Double.init) ?? 0.3
let set = try InstructionSet.selected()
let cores = max(1, ProcessInfo.processInfo.activeProcessorCount)
for threads in cores == 1 ? [1] : [1, cores] {
  let peak = PeakRate.measure(set, threads: threads)
  print(
    "\(set.rawValue), \(threads == 1 ? "1 thread" : "\(threads) threads"), peak "
      + "\(fixed(peak / 1e9, 1)) GFLOP/s")
  print(
    padded("layer", 34) + padded("ms", 9, left: true) + padded("GFLOP/s", 10, left: true)
      + padded("% of peak", 11, left: true) + padded("GB/s of weights", 17, left: true)
      + "  kernel")
  for layer in layers {
    let found = try layer.measure(set, threads: threads, seconds: seconds)
    let rate = 2 * Double(found.multiplyAdds) / found.seconds
    let bandwidth = Double(found.weightBytes) / found.seconds
    print(
      padded(layer.title, 34) + padded(fixed(found.seconds * 1e3, 3), 9, left: true)
        + padded(fixed(rate / 1e9, 1), 10, left: true)
        + padded(fixed(100 * rate / peak, 0), 11, left: true)
        + padded(fixed(bandwidth / 1e9, 1), 17, left: true) + "  \(found.kernel)")
  }
  print("")
}
let swish = try SwishTimes()
print(
  "Swish of 6×256×256 values, 1 thread: \(fixed(swish.layer * 1e3, 3)) ms; "
    + "a loop over subscripts \(fixed(swish.subscripts * 1e3, 1)) ms, "
    + "\(fixed(swish.subscripts / swish.layer, 0)) times; over boxed ones as in Core ML "
    + "\(fixed(swish.boxed * 1e3, 0)) ms, \(fixed(swish.boxed / swish.layer, 0)) times")
print(
  "\nFunctions of an element, 1 thread, nanoseconds a value and multiples of the exponential's time"
)
for time in FunctionTimes.measure(set, seconds: seconds) {
  print(
    padded(time.name, 34) + padded(fixed(time.nanoseconds, 3), 9, left: true)
      + padded(fixed(time.ratio, 1), 8, left: true))
}
