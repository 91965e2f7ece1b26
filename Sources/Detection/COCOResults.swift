/// The identifiers of images and classes in COCO's results.
package enum COCOResults {
  package enum ImageID: Sendable, Equatable {
    case number(Int)
    case text(String)
  }

  /// The digits at the end of the file name without its extension, as in `000000397133.jpg` and
  /// `COCO_val2014_000000397133.jpg`; otherwise that name.
  package static func imageID(of path: String) -> ImageID {
    let file = path.split(separator: "/").last ?? path[...]
    var stem = file
    if let dot = file.lastIndex(of: "."), dot > file.startIndex { stem = file[..<dot] }
    let digits = stem.reversed().prefix { $0.isASCII && $0.isNumber }.reversed()
    let before = stem.dropLast(digits.count).last
    guard before == nil || before == "_", let number = Int(String(digits)) else {
      return .text(String(stem))
    }
    return .number(number)
  }

  /// The class's number: COCO's own, which has gaps, where the labels are its 80; otherwise one more
  /// than its position, as 0 is the background.
  package static func categoryID(of classIndex: Int, labels: [String]?) -> Int {
    guard let labels, labels.count == 80, labels.first == "person", labels.last == "toothbrush"
    else { return classIndex + 1 }
    return missing.reduce(classIndex + 1) { number, gap in number >= gap ? number + 1 : number }
  }

  /// The numbers from 1 to 90 that COCO's instances do not use.
  private static let missing = [12, 26, 29, 30, 45, 66, 68, 69, 71, 83]
}
