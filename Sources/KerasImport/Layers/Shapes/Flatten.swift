import CoreMLModel
import ImportSupport

/// Merges all axes except the batch into one, in Keras's order.
enum FlattenLayer: KerasLayer {
  static let classes = [SourceLayer](
    "Flatten", becomes: "flatten; a reshape for volumes", options: "`data_format`")

  static func configured(_ configuration: LayerConfiguration) throws -> ConfiguredLayer {
    // Whether Keras first moves axis 1 to the end, for any rank.
    let swapsChannels = try configuration.dataFormat == .channelsFirst
    return conversion { call, network in
      let given = try call.input
      if given.rank == 1, let vector = given.inserting(at: 1) {
        return [network.relaid(vector, to: .vector, for: call.name)]
      }
      var input = network.standard(given, for: call.name)
      if swapsChannels, input.rank > 2 { input = input.reordered(Array(2..<input.rank) + [1]) }
      var flatten = Flatten()
      switch input.layout {
      case .vector, .imageChannelsFirst: flatten.mode = .channelFirst
      case .image: flatten.mode = .channelLast
      default:
        if input.layout.axes.count > 3 {
          let count = try input.itemCount.orThrow(call.unknownSize(of: input))
          return [try network.reshaped(input, to: [count], preferred: call.preferredImage, call)]
        }
        if input.layout == .sequence {
          // Moves the sequence to the height, so that H, W, C is Keras's order.
          var permute = Permute()
          permute.axis = [2, 1, 0, 3]
          input.blob = network.add(
            call.name + "__permute__", permute, [input.blob], to: call.name + "_output__permute__")
        } else {
          let layout: TensorLayout =
            input.rank == 3 ? TensorLayout(axes: [.height, .channel]) : .image
          input = network.relaid(input, to: layout, for: call.name)
        }
        flatten.mode = .channelLast
      }
      var output = input
      output.shape = [input.shape[0], input.itemCount]
      output.layout = .vector
      output.blob = network.add(call.name, flatten, [input.blob])
      return [output]
    }
  }
}
