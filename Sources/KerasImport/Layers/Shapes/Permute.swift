import CoreMLModel
import ImportSupport

/// Axis `i` of the output is axis `dims[i]` of the input, counted from 1.
enum PermuteLayer: KerasLayer {
  static let classes = [SourceLayer("Permute", becomes: "permute", options: "`dims`, two to four")]
  static let leadingAxes = LeadingAxesPolicy.decides

  static func configured(_ configuration: LayerConfiguration) throws -> ConfiguredLayer {
    guard let axes = try configuration.ints("dims") else { throw configuration.missing(["dims"]) }
    guard axes.sorted() == Array(1..<axes.count + 1) else {
      throw configuration.unsupported("dims", "\(axes) is not a permutation of the axes")
    }
    return conversion { call, network in
      let given = try call.input
      if given.leading != nil, given.fullShape.count == axes.count + 1 {
        return [try network.transposed(leading: given, [0] + axes, call)]
      }
      let input = network.standard(given, for: call.name)
      try call.require(input.rank == axes.count + 1, "dims \(axes) for an input \(input.shapeText)")
      var output = input
      output.shape = [input.shape[0]] + axes.map { input.shape[$0] }
      let moved = TensorLayout(axes: axes.map { input.layout.axes[$0 - 1] })
      // The output has the input's layout.
      output.layout = input.layout
      output.blob = network.add(
        call.name, Permute().with(\.axis, moved.permutation(to: output.layout)), [input.blob])
      return [output]
    }
  }
}

/// Repeats a vector `n` times, as the steps of a sequence.
enum RepeatVector: KerasLayer {
  static let classes = [SourceLayer("RepeatVector", becomes: "sequenceRepeat")]

  static func configured(_ configuration: LayerConfiguration) throws -> ConfiguredLayer {
    let count = try configuration.int("n")
    return conversion { call, network in
      let input = try call.input
      guard input.rank == 2 else {
        throw call.error("its input \(input.shapeText) is not a vector")
      }
      var output = network.relaid(input, to: .vector, for: call.name)
      output.blob = network.add(
        call.name, SequenceRepeat().with(\.nRepetitions, count), [output.blob])
      output.shape = [input.shape[0], count, input.shape[1]]
      output.layout = .sequence
      return [output]
    }
  }
}
