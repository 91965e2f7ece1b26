import CoreMLModel
import TensorCore

/// Other sizes for the same elements in Keras' order; one of them may be −1.
struct ReshapeLayer: KerasLayer {
  static let classNames = ["Reshape"]

  private let target: [Int]

  init(_ configuration: LayerConfiguration) throws {
    guard let target = try configuration.ints("target_shape", "dims") else {
      throw configuration.missing(["target_shape"])
    }
    guard target.filter({ $0 == -1 }).count <= 1, target.allSatisfy({ $0 > 0 || $0 == -1 }) else {
      throw configuration.unsupported("target_shape", "\(target) is not a shape")
    }
    guard (1...3).contains(target.count) else {
      throw configuration.unsupported(
        "target_shape",
        "\(target) has \(target.count) axes; Core ML's reshape has at most three "
          + "besides the batch")
    }
    self.target = target
  }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    var input = network.standard(try call.input, for: call.name)
    let sizes = try resolved(input, call)
    var output = input
    output.shape = [input.shape[0]] + sizes.map { $0 == -1 ? nil : $0 }
    var reshape = Reshape()
    let isTargetFirst = call.preferredImage == .channelsFirst
    switch sizes.count {
    case 1:
      output.layout = .vector
      reshape.targetShape = [1, sizes[0], 1, 1]
    case 2:
      output.layout = .sequence
      reshape.targetShape = [sizes[0], sizes[1], 1, 1]
    default:
      output.layout = isTargetFirst ? .imageChannelsFirst : .image
      reshape.targetShape =
        isTargetFirst ? [1] + sizes : [1, sizes[2], sizes[0], sizes[1]]
    }
    // Channel last reads and writes H, W, C. Where only one side is in that order, the other must
    // be one that both orders agree about.
    let wantsLast = input.layout == .image || output.layout == .image
    if wantsLast {
      reshape.mode = .channelLast
      if input.layout == .imageChannelsFirst {
        input = network.relaid(input, to: .image, for: call.name)
      }
      if output.layout == .imageChannelsFirst {
        output.layout = .image
        reshape.targetShape = [1, sizes[2], sizes[0], sizes[1]]
      }
    } else {
      reshape.mode = .channelFirst
    }
    guard input.layout.axes.count <= 3 else {
      throw call.unsupported("reshaping of a sequence of images is not supported")
    }
    output.blob = network.add(call.name, reshape, [input.blob])
    return [output]
  }

  private func resolved(_ input: KerasTensor, _ call: LayerCall) throws -> [Int] {
    let known = try checkedProduct(target.filter { $0 > 0 }, limit: Limits.tensorElements)
    guard let count = input.itemCount else { return target }
    if target.contains(-1) {
      guard count % known == 0 else {
        throw call.error("\(count) elements do not divide into \(target)")
      }
      return target.map { $0 == -1 ? count / known : $0 }
    }
    guard count == known || input.isGuess else {
      throw call.error("an input \(input.shapeText) has not as many elements as \(target)")
    }
    return target
  }
}
