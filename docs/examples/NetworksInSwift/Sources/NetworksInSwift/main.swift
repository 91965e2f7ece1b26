// NetworksInSwift WEIGHTS PICTURE: tells which digit a picture shows.
import Foundation
import NetworkBuilder

guard CommandLine.arguments.count == 3 else {
  print("usage: NetworksInSwift WEIGHTS PICTURE")
  exit(64)
}
let digits = DigitNetwork()
print(try digits.network.summary())

let model = try digits.network.compile(weights: .folder(CommandLine.arguments[1]))
let picture = try Image.read(CommandLine.arguments[2])
for score in try model.predict(picture).output.top(5) {
  print("digit \(score.index): \((score.value * 10000).rounded() / 10000)")
}

let module = inceptionModule(Input(width: 35, height: 35, channels: 192))
print("Inception module: \(try module.shape())")
print("VGG-16: \(try VGG16().network.parameterCount()) parameters")
