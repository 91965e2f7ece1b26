import CoreMLModel
import TensorCore

/// What the three-dimensional layers have in common.
///
/// A volume is a sequence of images in Core ML. Layers work on height and width first, on all images
/// of the sequence; then depth takes the place of the height, and the height that of the sequence.
/// Core ML's own three-dimensional layers came with specification 5; these do it in version 1.
struct VolumeSettings: Sendable {
  let format: LayerConfiguration.DataFormat

  init(_ configuration: LayerConfiguration) throws {
    format = try configuration.dataFormat ?? .channelsLast
  }

  /// Depth along the sequence.
  private var images: TensorLayout {
    TensorLayout(
      axes: format == .channelsLast
        ? [.sequence, .height, .width, .channel] : [.channel, .sequence, .height, .width])
  }

  /// Depth along the height.
  private var slices: TensorLayout {
    TensorLayout(
      axes: format == .channelsLast
        ? [.height, .sequence, .width, .channel] : [.channel, .height, .sequence, .width])
  }

  /// Keras' indices of depth, height and width.
  var axes: [Int] { format == .channelsLast ? [1, 2, 3] : [2, 3, 4] }
  var channelAxis: Int { format == .channelsLast ? 4 : 1 }

  func images(
    _ tensor: KerasTensor, _ call: LayerCall, _ network: inout NetworkWriter
  ) throws -> KerasTensor {
    guard tensor.rank == 5 else { throw call.error("its input \(tensor.shapeText) is no volume") }
    network.fixesSequences = true
    return network.relaid(tensor, to: images, for: call.name)
  }

  func slices(
    _ tensor: KerasTensor, _ call: LayerCall, _ network: inout NetworkWriter
  ) -> KerasTensor {
    network.relaid(tensor, to: slices, for: call.name + "_depth")
  }

  func sizes(_ tensor: KerasTensor, _ call: LayerCall) throws -> [Int] {
    let sizes = axes.compactMap { tensor.shape[$0] }
    guard sizes.count == 3, !tensor.isGuess else {
      throw call.error(
        "its input \(tensor.shapeText) has an unknown size", code: .mismatch,
        hint: "fix it with --input-shape")
    }
    return sizes
  }

  func resized(_ tensor: KerasTensor, to sizes: [Int], channels: Int? = nil) -> KerasTensor {
    var output = tensor
    for (axis, size) in zip(axes, sizes) { output.shape[axis] = size }
    if let channels { output.shape[channelAxis] = channels }
    return output
  }
}

extension LayerConfiguration {
  /// Depth, height and width; one number stands for all.
  func triple(_ names: String..., default standard: [Int]? = nil, atLeast minimum: Int = 1) throws
    -> [Int]
  {
    guard let (name, value) = field(names) else {
      guard let standard else { throw missing(names) }
      return standard
    }
    var numbers = try ints(name, value)
    if numbers.count == 1 { numbers = [numbers[0], numbers[0], numbers[0]] }
    guard numbers.count == 3, numbers.allSatisfy({ $0 >= minimum }) else {
      throw bad(name, value, "three whole numbers of at least \(minimum)")
    }
    return numbers
  }
}
