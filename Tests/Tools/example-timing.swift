import Assay

// Prints the milliseconds of some predictions with a model whose input is an array.
var options = Predictor.Options()
options.layout = .coreml
let predictor = try Predictor(
  model: try Model(contentsOf: CommandLine.arguments[1]), options: options)
guard let input = predictor.inputs.first, case .multiArray(let type)? = input.type?.kind else {
  fatalError("the first input is not an array")
}
let values = (0..<type.shape.reduce(1, *)).map { Float($0 % 255) / 255 }
let array = FeatureValue.array(Tensor(shape: type.shape, values))
let clock = ContinuousClock()
for round in 0..<23 {
  let time = try clock.measure { _ = try predictor.predict([input.name: array]) }
  // The first ones prepare.
  if round > 2 { print(time / .milliseconds(1)) }
}
