import CoreMLModel
import TensorCore
import TestSupport

private let shapes = [[1, 1, 1, 1, 1], [1, 1, 3, 4, 5], [2, 3, 17, 3, 2]]
private let methods: [SamplingMethod?] = [nil] + SamplingMethod.allCases

extension Upsample: TestedLayer {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    shapes.flatMap { shape in
      [[], [2, 2], [3, 1], [2, 5]].flatMap { factors in
        ([nil] + LinearUpsampleMode.allCases).map { mode in
          var layer = Upsample()
          layer.scalingFactor = factors
          if let mode {
            layer.mode = .bilinear
            layer.linearUpsampleMode = mode
          }
          return LayerTrial("\(shape) by \(factors), \(mode as Any)", layer, [shape])
        }
      }
    }
  }
}

extension ResizeBilinear: TestedLayer {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    shapes.flatMap { shape in
      [[1, 1], [5, 4], [2, 9]].flatMap { size in
        methods.map { method in
          var layer = ResizeBilinear()
          layer.targetSize = size
          layer.mode = method
          return LayerTrial("\(shape) to \(size), \(method as Any)", layer, [shape])
        }
      }
    }
  }
}

extension CropResize: TestedLayer {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    let image = [1, 2, 5, 7, 6]
    return methods.flatMap { method in
      ([nil] + BoxCoordinates.allCases).flatMap { coordinates in
        [4, 5].map { size in
          var layer = CropResize()
          layer.targetSize = random.pick([[], [3, 4], [1, 2]])
          layer.mode = method
          layer.boxIndicesMode = coordinates
          layer.normalizedCoordinates = random.flag()
          layer.spatialScale = random.pick([0, 1, 0.5])
          let boxes = (0..<3).flatMap { _ in
            box(coordinates, layer, size == 5 ? Float(random.number(0...1)) : nil, image, &random)
          }
          return LayerTrial(
            "\(method as Any), \(coordinates as Any), \(size), \(layer.targetSize)", layer,
            [image, [3, 1, size, 1, 1]], values: [1: boxes])
        }
      }
    }
  }

  /// A random box inside the image.
  private static func box(
    _ coordinates: BoxCoordinates?, _ layer: CropResize, _ item: Float?, _ image: [Int],
    _ random: inout SplitMix64
  ) -> [Float] {
    let scale = layer.spatialScale == 0 ? 1 : layer.spatialScale
    func interval(_ size: Int) -> (from: Float, to: Float) {
      let limit = (layer.normalizedCoordinates ? 1 : Float(size - 1)) / scale
      let ends = random.values(2, in: 0...limit).sorted()
      return (ends[0], ends[1])
    }
    let (y, x) = (interval(image[3]), interval(image[4]))
    let values =
      switch coordinates ?? .cornersHeightFirst {
      case .cornersHeightFirst: [y.from, x.from, y.to, x.to]
      case .cornersWidthFirst: [x.from, y.from, x.to, y.to]
      case .centerSizeHeightFirst:
        [(y.from + y.to) / 2, (x.from + x.to) / 2, y.to - y.from, x.to - x.from]
      case .centerSizeWidthFirst:
        [(x.from + x.to) / 2, (y.from + y.to) / 2, x.to - x.from, y.to - y.from]
      }
    return (item.map { [$0] } ?? []) + values
  }
}
