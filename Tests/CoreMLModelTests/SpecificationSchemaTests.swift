import ByteFormats
import Testing

@testable import CoreMLModel

struct SpecificationSchemaTests {
  /// A message that one table reads in parts and another does not list would be unpacked completely
  /// by the second.
  @Test func everyMessageTypeIsReadInOneWay() {
    var carried: [String: Set<[String]>] = [:]
    var visited: Set<ObjectIdentifier> = []
    func collect(_ schema: ProtobufSchema) {
      guard visited.insert(ObjectIdentifier(schema)).inserted else { return }
      carried[schema.name, default: []].insert(schema.fields.filter(\.isCarried).map(\.name))
      for field in schema.fields {
        if case .message(let inner) = field.kind { collect(inner) }
      }
    }
    collect(SpecificationSchema.model)
    #expect(carried.count > 150)
    #expect(carried.filter { $0.value.count > 1 }.keys.sorted() == [])
  }
}
