import ByteFormats
import Files
import TensorCore

/// The objects of images in a file of COCO annotations, such as `instances_val2017.json`.
package struct COCOTruth: Sendable {
  package struct Picture: Sendable, Equatable {
    package let id: Int
    /// The file's name.
    package let name: String
  }

  package let images: [Picture]
  /// The names of the classes by number.
  package let categories: [Int: String]
  package let objects: [TrueObject]

  package static func read(_ path: String) throws -> COCOTruth {
    let bytes = try MappedFile.read(path, limit: Limits.jsonBytes).array(of: UInt8.self)
    return try inFile(path) { try COCOTruth(JSONValue(parsing: bytes)) }
  }

  package init(_ document: JSONValue) throws {
    images = try Self.list("images", of: document) { value in
      guard let id = value["id"]?.int, let name = value["file_name"]?.string else { return nil }
      return Picture(id: id, name: name)
    }
    let named: [(Int, String)] = try Self.list("categories", of: document) { value in
      guard let id = value["id"]?.int, let name = value["name"]?.string else { return nil }
      return (id, name)
    }
    categories = Dictionary(named, uniquingKeysWith: { first, _ in first })
    let (knownImages, knownCategories) = (Set(images.map(\.id)), Set(named.map(\.0)))
    objects = try Self.list("annotations", of: document) { value in
      guard let image = value["image_id"]?.int, knownImages.contains(image),
        let category = value["category_id"]?.int, knownCategories.contains(category),
        let box = value["bbox"]?.array?.compactMap(\.double), box.count == 4,
        box.allSatisfy({ abs($0) <= 1e9 })
      else { return nil }
      return TrueObject(
        image: image, category: category,
        box: Box(x: box[0], y: box[1], width: box[2], height: box[3]),
        area: value["area"]?.double, isCrowd: (value["iscrowd"]?.int ?? 0) != 0)
    }
  }

  /// The members of the list `name`.
  ///
  /// - Throws: `.malformed` if the list is missing, or if `read` returns nil for a member.
  private static func list<Member>(
    _ name: String, of document: JSONValue, _ read: (JSONValue) -> Member?
  ) throws -> [Member] {
    let hint = "COCO annotations have the lists images, annotations and categories"
    guard let list = document[name]?.array else {
      throw ModelError(.malformed, "the list '\(name)' is missing", hint: hint)
    }
    return try list.enumerated().map { index, value in
      guard let member = read(value) else {
        throw ModelError(
          .malformed, "a field is missing or wrong", field: "\(name)[\(index)]", hint: hint)
      }
      return member
    }
  }
}
