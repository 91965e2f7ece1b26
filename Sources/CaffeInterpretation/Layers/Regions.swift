import Interpretation
import LibC
import TensorCore

/// Layers of two-stage detectors.
extension CaffeOperations {
  static let regions: [String: CaffeOperation] = [
    "ROIPooling": .one(bottoms: 2...2, regionMaxima),
    "PSROIPooling": .one(bottoms: 2...2, groupMeans),
    "Proposal": CaffeOperation(bottoms: 3...3) { layer in
      let settings = layer.settings("proposal_param")
      var proposals = RegionProposals()
      proposals.stride = try settings.number("feat_stride")
      proposals.base = try settings.number("base_size")
      proposals.least = try settings.number("min_size")
      if settings.has("ratio") { proposals.ratios = try settings.numbers("ratio") }
      if settings.has("scale") { proposals.scales = try settings.numbers("scale") }
      proposals.candidates = try settings.int("pre_nms_topn")
      proposals.count = try settings.size("post_nms_topn")
      proposals.overlap = try settings.number("nms_thresh")
      proposals.keepsSmall = true
      return try proposals.tops(layer)
    },
    "Python": CaffeOperation(bottoms: 1...16) { layer in
      let settings = layer.settings("python_param")
      let (module, name) = (
        try settings.string("module", default: ""), try settings.string("layer", default: "")
      )
      guard name == "ProposalLayer", module.hasSuffix("proposal_layer"), layer.bottoms.count == 3
      else { throw layer.missing("'\(name)' of '\(module)' is in another file") }
      var proposals = RegionProposals()
      for (key, numbers) in pythonNumbers(try settings.string("param_str", default: "")) {
        switch key {
        case "feat_stride": proposals.stride = numbers.first ?? 16
        case "scales": proposals.scales = numbers
        case "ratios": proposals.ratios = numbers
        default: throw layer.missing("the setting '\(key)'")
        }
      }
      return try proposals.tops(layer)
    },
  ]

  /// Keys with their numbers, from a dictionary in YAML or Python.
  private static func pythonNumbers(_ text: String) -> [(String, [Double])] {
    var result: [(String, [Double])] = []
    for word in text.split(whereSeparator: { " \t\r\n{}'\",:[]()".contains($0) || $0.isNewline })
    where !word.hasPrefix("!!") {
      if let number = Double(word) {
        if !result.isEmpty { result[result.count - 1].1.append(number) }
      } else {
        result.append((String(word), []))
      }
    }
    return result
  }

  /// C's `round`.
  fileprivate static func rounded(_ x: Double) -> Double { x.rounded(.toNearestOrAwayFromZero) }

  /// The elements of window `index` of `count` along an axis, clipped to the axis.
  private static func window(
    _ start: Double, _ size: Double, _ index: Int, _ count: Int, _ extent: Int
  ) -> Range<Int> {
    let low = (start + Double(index) * size / Double(count)).rounded(.down)
    let high = (start + Double(index + 1) * size / Double(count)).rounded(.up)
    let first = Int(min(max(low, 0), Double(extent)))
    return first..<max(first, Int(min(max(high, 0), Double(extent))))
  }

  /// The image index, which refers to the first bottom, and the four coordinates of a region.
  private static func region(_ layer: LayerRun, _ index: Int) throws -> (image: Int, [Double]) {
    let row = Array(layer.bottoms[1].values[5 * index..<5 * index + 5])
    try layer.require(row.allSatisfy { $0.isFinite && abs($0) < 1e12 }, "region \(row)")
    let image = max(0, Int(row[0]))
    try layer.require(image < layer.input.shape[0], "a region of image \(image)")
    return (image, Array(row.dropFirst()))
  }

  /// roi_pooling_layer.cpp of rbgirshick/caffe-fast-rcnn: the maxima of windows. Corners are
  /// rounded after scaling, and empty windows are 0. Filler rows count as regions of the first
  /// image.
  private static func regionMaxima(_ layer: LayerRun) throws -> DoubleArray {
    let settings = layer.settings("roi_pooling_param")
    let (_, channels, height, width) = try layer.imageShape()
    let (rows, columns) = (try settings.size("pooled_h"), try settings.size("pooled_w"))
    let scale = try settings.number("spatial_scale")
    try layer.require(scale.isFinite, "spatial_scale is \(scale)")
    let count = layer.bottoms[1].count / 5
    var result = try DoubleArray(shape: [count, channels, rows, columns])
    for index in 0..<count {
      let (image, corners) = try region(layer, index)
      let box = corners.map { rounded($0 * scale) }
      let size = [max(box[3] - box[1] + 1, 1), max(box[2] - box[0] + 1, 1)]
      for row in 0..<rows {
        let down = window(box[1], size[0], row, rows, height)
        for column in 0..<columns {
          let across = window(box[0], size[1], column, columns, width)
          guard !down.isEmpty, !across.isEmpty else { continue }
          for channel in 0..<channels {
            var best = -Double(Float.greatestFiniteMagnitude)
            for y in down {
              for x in across {
                let position = ((image * channels + channel) * height + y) * width + x
                best = max(best, layer.input.values[position])
              }
            }
            result.values[((index * channels + channel) * rows + row) * columns + column] = best
          }
        }
      }
    }
    return result
  }

  /// psroi_pooling_layer.cu of daijifeng001/caffe-rfcn: the means of windows, each over different
  /// channels. Corners are rounded before scaling.
  private static func groupMeans(_ layer: LayerRun) throws -> DoubleArray {
    let settings = layer.settings("psroi_pooling_param")
    let (_, channels, height, width) = try layer.imageShape()
    let (group, outputs) = (try settings.size("group_size"), try settings.size("output_dim"))
    try layer.require(
      try checkedProduct([outputs, group, group], limit: Limits.dimension) == channels,
      "\(outputs) outputs of \(group) × \(group) windows and \(channels) channels")
    let scale = try settings.number("spatial_scale")
    try layer.require(scale.isFinite, "spatial_scale is \(scale)")
    let count = layer.bottoms[1].count / 5
    var result = try DoubleArray(shape: [count, outputs, group, group])
    for index in 0..<count {
      let (image, corners) = try region(layer, index)
      let (x1, y1) = (rounded(corners[0]) * scale, rounded(corners[1]) * scale)
      let (x2, y2) = ((rounded(corners[2]) + 1) * scale, (rounded(corners[3]) + 1) * scale)
      let size = [max(y2 - y1, 0.1), max(x2 - x1, 0.1)]
      for row in 0..<group {
        let down = window(y1, size[0], row, group, height)
        for column in 0..<group {
          let across = window(x1, size[1], column, group, width)
          guard !down.isEmpty, !across.isEmpty else { continue }
          for output in 0..<outputs {
            let channel = (output * group + row) * group + column
            var sum = 0.0
            for y in down {
              for x in across {
                sum += layer.input.values[((image * channels + channel) * height + y) * width + x]
              }
            }
            result.values[((index * outputs + output) * group + row) * group + column] =
              sum / Double(down.count * across.count)
          }
        }
      }
    }
    return result
  }
}

/// proposal_layer.py of py-faster-rcnn, and proposal_layer.cpp of its C++ version, which sets the
/// score of small regions to 0 instead of removing them. There are always `count` rows; rows after
/// the last region are −1, 0, 0, 0, 0.
private struct RegionProposals {
  var stride = 16.0
  var base = 16.0
  /// The minimum side of a region, before scaling.
  var least = 16.0
  var ratios = [0.5, 1, 2]
  var scales = [8.0, 16, 32]
  var candidates = 6000
  var count = 300
  var overlap = 0.7
  var keepsSmall = false

  /// generate_anchors.py
  private var anchors: [[Double]] {
    ratios.flatMap { ratio in
      // NumPy rounds half to even.
      let w = (base * base / ratio).squareRoot().rounded(.toNearestOrEven)
      let h = (w * ratio).rounded(.toNearestOrEven)
      return scales.map { scale in
        let (x, y) = ((w * scale - 1) / 2, (h * scale - 1) / 2)
        let center = (base - 1) / 2
        return [center - x, center - y, center + x, center + y]
      }
    }
  }

  func tops(_ layer: LayerRun) throws -> [DoubleArray] {
    let (scores, offsets, info) = (layer.bottoms[0], layer.bottoms[1], layer.bottoms[2])
    let anchors = anchors
    let (items, channels, height, width) = try layer.imageShape()
    let number = anchors.count
    try layer.require(
      items == 1 && channels == 2 * number && offsets.count == 4 * number * height * width
        && info.count >= 3 && count <= 1 << 16,
      "\(number) anchors for bottoms \(scores.shape), \(offsets.shape) and \(info.shape)")
    let plane = height * width
    var boxes: [(score: Double, box: [Double])] = []
    for position in 0..<plane {
      let (x, y) = (Double(position % width) * stride, Double(position / width) * stride)
      for (index, anchor) in anchors.enumerated() {
        let box = zip(anchor, [x, y, x, y]).map(+)
        let size = [box[2] - box[0] + 1, box[3] - box[1] + 1]
        var moved = box
        for axis in 0..<2 {
          let offset = offsets.values[(4 * index + axis) * plane + position]
          let growth = offsets.values[(4 * index + axis + 2) * plane + position]
          let center = offset * size[axis] + box[axis] + size[axis] / 2
          let half = exp(growth) * size[axis] / 2
          let last = info.values[1 - axis] - 1
          moved[axis] = max(min(center - half, last), 0)
          moved[axis + 2] = max(min(center + half, last), 0)
        }
        let isLarge =
          min(moved[2] - moved[0], moved[3] - moved[1]) + 1 >= least * info.values[2]
        let score = scores.values[(number + index) * plane + position]
        if isLarge || keepsSmall { boxes.append((isLarge ? score : 0, moved)) }
      }
    }
    var order = boxes.indices.sorted { (boxes[$1].score, $0) < (boxes[$0].score, $1) }
    if candidates > 0 { order = Array(order.prefix(candidates)) }
    var kept: [Int] = []
    for index in order where kept.count < count {
      if kept.allSatisfy({ Self.overlap(boxes[index].box, boxes[$0].box) <= overlap }) {
        kept.append(index)
      }
    }
    var rows: [Double] = []
    var values: [Double] = []
    for position in 0..<count {
      let found = kept.indices.contains(position) ? boxes[kept[position]] : nil
      rows += found.map { [0] + $0.box } ?? [-1, 0, 0, 0, 0]
      values.append(found?.score ?? 0)
    }
    return [DoubleArray(shape: [count, 5], rows), DoubleArray(shape: [count, 1, 1, 1], values)]
  }

  private static func overlap(_ a: [Double], _ b: [Double]) -> Double {
    let width = max(0, min(a[2], b[2]) - max(a[0], b[0]) + 1)
    let height = max(0, min(a[3], b[3]) - max(a[1], b[1]) + 1)
    func area(_ box: [Double]) -> Double { (box[2] - box[0] + 1) * (box[3] - box[1] + 1) }
    return width * height / (area(a) + area(b) - width * height)
  }
}
