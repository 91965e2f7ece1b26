// NetworksInSwift WEIGHTS PICTURE [OUT.mlmodel]: tells which digit an image shows, and writes the
// network for Core ML.
import Foundation
import NetworkBuilder

guard (3...4).contains(CommandLine.arguments.count) else {
  print("usage: NetworksInSwift WEIGHTS PICTURE [OUT.mlmodel]")
  exit(64)
}
let digits = DigitNetwork()
print(try digits.network.summary())

let weights = WeightSource.folder(CommandLine.arguments[1])
let model = try digits.network.compile(weights: weights)
let image = try Image.read(CommandLine.arguments[2])
for score in try model.predict(image).output.top(5) {
  print("digit \(score.index): \((score.value * 10000).rounded() / 10000)")
}

let module = inceptionModule(Input(width: 35, height: 35, channels: 192))
print("Inception module: \(try module.shape())")
print("VGG-16: \(try VGG16().network.parameterCount()) parameters")

if CommandLine.arguments.count > 3 {
  try digits.network.write(to: CommandLine.arguments[3], weights: weights)
}
