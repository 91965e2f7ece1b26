import ByteFormats
import CoreMLModel
import Engine
import Foundation
import HDF5Library
import ImportSupport
import KerasImport
import NetworkBuilder
import TensorCore
import TestSupport

/// The files written by `make.py`.
let fixtures = Fixtures("builder")

extension Fixtures {
  func tensor(_ file: String, _ name: String) throws -> Tensor {
    guard let array = try ArraySet.read(path(file))[name] else {
      throw ModelError(.missingFile, "no array '\(name)'", file: file)
    }
    return array.tensor
  }

  func floats(_ file: String, _ name: String) throws -> [Float] {
    try tensor(file, name).elements
  }

  /// An image from an array `[height, width, channels]` of bytes.
  func picture(_ file: String, _ name: String) throws -> Image {
    let array = try tensor(file, name)
    return Image(
      width: array.shape[1], height: array.shape[0], channelCount: array.shape[2],
      samples: Bytes(array.elements.map { UInt8($0) }))
  }
}

/// The largest |a − b| / (1e-5 + 1e-4 |b|): at most 1 if the arrays agree, infinite if their counts
/// differ.
func difference(_ a: [Float], from b: [Float]) -> Float {
  guard a.count == b.count, !a.isEmpty else { return .infinity }
  return zip(a, b).reduce(0) { result, pair in
    let distance = abs(pair.0 - pair.1) / (1e-5 + 1e-4 * abs(pair.1))
    return distance.isNaN ? .infinity : max(result, distance)
  }
}

/// A network converted from Keras.
struct KerasNetwork {
  let model: Model

  init(_ name: String, random: RandomWeights? = nil) throws {
    var options = ConversionOptions()
    options.missingWeights = random.map { .random($0) }
    model = try KerasImporter.convert(
      KerasSource.load(fixtures.path(name), access: .inProcess), options: options
    ).model
  }

  /// The values of `blobs` for an input `[height, width, channels]`, in the same order.
  func predict(_ input: Tensor, keeping blobs: [String] = []) throws -> [String: [Float]] {
    let planes = input.transposed([2, 0, 1])
    var options = CompileOptions()
    options.keep = .named(Set(blobs))
    let network = try CompiledNetwork(model: model, options: options)
    let name = model.description?.input.first?.name ?? ""
    return try network.predict([name: planes.reshaped([1, 1] + planes.shape)])
      .mapValues { $0.transposed([0, 1, 3, 4, 2]).elements }
  }

  /// The weights of a layer, output channels first and input channels last.
  func weights(_ layer: String, _ kind: WeightKind) throws -> [Float] {
    let found = model.neuralNetwork?.layers.first { $0.name == layer }
    switch (found?.parameters, kind) {
    case (let convolution as CoreMLModel.Convolution, .weights):
      guard let kernel = convolution.kernel else { return [] }
      return try kernel.values(shape: convolution.kernelShape).transposed([0, 2, 3, 1]).array()
    case (let convolution as CoreMLModel.Convolution, .bias):
      return try convolution.bias?.values(shape: [convolution.outputChannels]).array() ?? []
    case (let product as InnerProduct, .weights):
      return try product.matrix?.values(
        shape: [product.outputChannels, product.inputChannels]
      ).array() ?? []
    case (let product as InnerProduct, .bias):
      return try product.bias?.values(shape: [product.outputChannels]).array() ?? []
    default: return []
    }
  }
}
