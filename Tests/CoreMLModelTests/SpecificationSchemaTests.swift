import ByteFormats
import Testing

@testable import CoreMLModel

struct SpecificationSchemaTests {
  /// If one table reads a message in parts and another does not list it, the second would unpack it
  /// completely.
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
