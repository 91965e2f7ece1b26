import Detection
import Imaging
import TensorCore

/// The objects that a detector finds in many images, compared with COCO annotations.
package struct DetectionEvaluation {
  /// An image with mistakes.
  package struct Mistake: Sendable {
    package let source: InputSource
    /// Objects that were not found.
    package let missed: Int
    /// Boxes without an object.
    package let wrong: Int
    package let found: [DetectedObject]
    /// The boxes of the ground truth; empty if the image was rotated.
    package let truth: [Box]
    package let detector: Detector
  }

  /// Boxes with a lower score than this, or than the detector's threshold, do not count as
  /// mistakes.
  package static let mistakeScore = 0.25
  /// A detector keeps boxes down to this score, so that the precision-recall curve is complete.
  package static let usualThreshold = 0.001

  private let truth: COCOTruth
  private let objects: [Int: [TrueObject]]
  private var images = PathTable<Int>()
  private let mistakeLimit: Int
  private var categories: [Int: Int] = [:]
  /// The objects found in all images.
  package private(set) var found: [FoundObject] = []
  private var seen: [Int] = []
  /// Names of the detector's classes that the ground truth lacks.
  package private(set) var unknownClasses: Set<String> = []
  /// The images with mistakes, those with the most first.
  package private(set) var mistakes: [Mistake] = []

  package init(_ truth: COCOTruth, mistakeLimit: Int) throws {
    self.truth = truth
    self.mistakeLimit = mistakeLimit
    objects = Dictionary(grouping: truth.objects, by: \.image)
    for image in truth.images { try images.insert(image.name, image.id) }
  }

  package var imageCount: Int { seen.count }
  /// Images of the ground truth that were not among the inputs.
  package var countMissingImages: Int { truth.images.count - seen.count }
  package var objectCount: Int { seen.reduce(0) { $0 + (objects[$1]?.count ?? 0) } }

  package mutating func add(_ result: ImageDetection.Result, of source: InputSource) throws {
    let image = try image(of: source)
    var own: [FoundObject] = []
    for object in result.objects {
      guard let category = category(of: object.classIndex, result.detector) else { continue }
      own.append(
        FoundObject(image: image, category: category, box: object.box, score: object.score))
    }
    seen.append(image)
    found += own
    let score = max(Self.mistakeScore, result.detector.threshold)
    let truth = objects[image] ?? []
    let (missed, wrong) = COCOEvaluation.mistakes(
      truth: truth, found: own.filter { $0.score >= score })
    guard missed + wrong > 0 else { return }
    let isRotated = result.objects != result.rotatedObjects
    let mistake = Mistake(
      source: source, missed: missed, wrong: wrong,
      found: result.rotatedObjects.filter { $0.score >= score },
      truth: isRotated ? [] : truth.map(\.box), detector: result.detector)
    let position = mistakes.firstIndex { $0.missed + $0.wrong < missed + wrong } ?? mistakes.count
    mistakes.insert(mistake, at: position)
    if mistakes.count > mistakeLimit { mistakes.removeLast() }
  }

  private mutating func image(of source: InputSource) throws -> Int {
    if let id = try images.value(for: source.name) {
      try require(
        !seen.contains(id), .mismatch, "is the same image in the ground truth as an earlier input",
        file: source.name)
      return id
    }
    throw ModelError(.mismatch, "the ground truth has no image of this name", file: source.name)
  }

  /// The category number, found by class name, or by index if the classes have no names.
  private mutating func category(of index: Int, _ detector: Detector) -> Int? {
    if let known = categories[index] { return known < 0 ? nil : known }
    let number = COCOResults.categoryID(of: index, labels: detector.labels)
    var category: Int?
    if detector.labels != nil {
      let label = detector.label(index).lowercased()
      category = truth.categories.filter { $0.value.lowercased() == label }.keys.min()
    } else if truth.categories[number] != nil {
      category = number
    }
    if category == nil { unknownClasses.insert(detector.label(index)) }
    categories[index] = category ?? -1
    return category
  }

  /// The evaluation of the images that were run.
  package var result: COCOEvaluation {
    COCOEvaluation(
      truth: seen.flatMap { objects[$0] ?? [] }, found: found,
      categories: Array(truth.categories.keys))
  }

  package func name(ofCategory id: Int) -> String { truth.categories[id] ?? "\(id)" }

  /// Objects of the class in these images, without crowds.
  package func objectCount(ofCategory id: Int) -> Int {
    seen.reduce(0) { sum, image in
      sum + (objects[image] ?? []).count { $0.category == id && !$0.isCrowd }
    }
  }
}

extension DetectionEvaluation.Mistake {
  /// The image with the detected boxes in the colors of the classes, over the ground truth in
  /// white.
  package func drawn(_ image: Image) throws -> Image {
    var canvas = try Canvas(image)
    let thickness = max(1, (min(image.width, image.height) + 60) / 120)
    for box in truth {
      guard
        let box = box.clipped(width: Double(image.width), height: Double(image.height))
      else { continue }
      let (left, top) = (Int(box.left), Int(box.top))
      canvas.outline(
        x: left..<max(left + 1, Int(box.right)), y: top..<max(top + 1, Int(box.bottom)),
        thickness: thickness, Color(255, 255, 255))
    }
    canvas.draw(found, of: detector)
    return canvas.image
  }
}
