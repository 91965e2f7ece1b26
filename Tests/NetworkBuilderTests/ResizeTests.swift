import NetworkBuilder
import TensorCore
import TestSupport
import Testing

struct ResizeTests {
  /// The image as the network receives it.
  private func view(_ resize: Resize) throws -> CompiledModel {
    let input = Input()
    return try Network(input: input, output: input --> resize --> ActivationLayer(.linear))
      .compile(weights: .random())
  }

  /// Matches Pillow's `resize` with a box, bit for bit; the crop is set on a compiled network.
  @Test func cropsAsPillowDoes() throws {
    let resize = Resize(width: 8, height: 6)
    let model = try view(resize)
    let picture = try fixtures.picture("crop.npz", "picture")
    let boxes = try fixtures.tensor("crop.npz", "boxes")
    for index in 0..<boxes.shape[0] {
      let box = boxes.elements[index * 4..<index * 4 + 4].map(Double.init)
      resize.crop = .rectangle(
        x: box[0], y: box[1], width: box[2] - box[0], height: box[3] - box[1])
      let expected = try fixtures.floats("crop.npz", "resized\(index)")
      #expect(try model.predict(picture).output.floats == expected)
    }
    resize.crop = .whole
    let whole = try picture.resized(width: 8, height: 6)
    #expect(
      try model.predict(picture).output.floats
        == whole.samples.array(of: UInt8.self).map(Float.init))
  }

  @Test func aRectangleOutsideOfThePicture() throws {
    let resize = Resize(width: 2, height: 2, name: "view")
    let model = try view(resize)
    resize.crop = .rectangle(x: 10, y: 0, width: 10.5, height: 14)
    #expect(
      modelError { _ = try model.predict(fixtures.picture("crop.npz", "picture")) }?.description
        == "layer 'view' (Resize): crop: the rectangle of 10.5 × 14.0 at (10.0, 0.0) is outside "
        + "the image of 20 × 14")
  }

  /// Resizing two samples to four puts the centers at −¼, ¼, ¾ and 1¼; TensorFlow does not round
  /// the result.
  @Test func samplesThatAreNoIntegers() throws {
    let model = try view(
      Resize(width: 4, height: 1, colors: .grayscale, interpolation: .tensorFlowBilinear))
    let picture = Image(width: 2, height: 1, channelCount: 1, samples: Bytes([0, 3] as [UInt8]))
    #expect(try model.predict(picture).output.floats == [0, 0.75, 2.25, 3])
  }

  @Test func colorsScaleAndBias() throws {
    let picture = Image(
      width: 1, height: 1, channelCount: 3, samples: Bytes([10, 20, 30] as [UInt8]))
    let bgr = try view(
      Resize(width: 1, height: 1, colors: .bgr, scale: 0.5, bias: [1, 2, 3]))
    // Blue, green, red: each halved, plus the bias of its color.
    #expect(try bgr.predict(picture).output.floats == [18, 12, 6])
    // Arrays of numbers are passed as RGB.
    #expect(try bgr.predict([10, 20, 30]).output.floats == [18, 12, 6])
    let gray = try view(
      Resize(width: 1, height: 1, colors: .grayscale, scale: 2, bias: [-1]))
    // (19595 · 10 + 38470 · 20 + 7471 · 30 + 2¹⁵) / 2¹⁶ = 18
    #expect(try gray.predict(picture).output.floats == [35])
    let input = Input()
    let wrong = Network(
      input: input, output: input --> Resize(width: 1, height: 1, bias: [1, 2]) --> Softmax())
    #expect(
      modelError { _ = try wrong.model(weights: .random()) }?.description
        == "layer 'resize_1' (Resize): bias: 2 numbers; 1 or 3 are needed")
  }

  /// One input, used as a whole and in part: two features in the document, one value.
  @Test func twoViewsOfOneInput() throws {
    let input = Input(name: "photo")
    let part = Resize(
      width: 2, height: 1, crop: .rectangle(x: 1, y: 0, width: 2, height: 1), name: "part")
    let whole = Resize(width: 3, height: 1, name: "whole")
    let network = Network(
      inputs: [input],
      outputs: [
        input --> part --> ActivationLayer(.linear), input --> whole --> ActivationLayer(.linear),
      ])
    let model = try network.compile(weights: .random())
    #expect(model.inputNames == ["photo"])
    let picture = Image(
      width: 3, height: 1, channelCount: 1, samples: Bytes([1, 2, 3] as [UInt8]))
    let outputs = try model.predict(picture).outputs.map(\.floats)
    #expect(outputs == [[2, 2, 2, 3, 3, 3], [1, 1, 1, 2, 2, 2, 3, 3, 3]])
  }
}
