import Assay

// Prints the milliseconds of predictions by a model whose input is an array of the given shape.
var options = Predictor.Options()
options.layout = .coreml
let predictor = try Predictor(
  model: try Model(contentsOf: CommandLine.arguments[1]), options: options)
guard let name = predictor.inputs.first?.name else { fatalError("the model has no input") }
let shape = CommandLine.arguments.dropFirst(2).compactMap { Int($0) }
let values = (0..<shape.reduce(1, *)).map { Float($0 % 255) / 255 }
let array = FeatureValue.array(Tensor(shape: shape, values))
let clock = ContinuousClock()
for round in 0..<23 {
  let time = try clock.measure { _ = try predictor.predict([name: array]) }
  // The first predictions warm up.
  if round > 2 { print(time / .milliseconds(1)) }
}
