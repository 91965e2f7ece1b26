/// The test file of a package.
struct TestText {
  let package: PluginPackage

  var text: String {
    """
    import CoreML
    import Foundation
    import Testing

    @testable import \(package.name)

    /// A layer with its inputs and expected outputs, from a file in `Expected`.
    struct Expected: Decodable {
      struct Parameter: Decodable {
        var double: Double?
        var string: String?
        var int: Int32?
        var long: Int64?
        var bool: Bool?

        /// The value; doubles are rounded to floats, as for a plug-in on Linux.
        var value: Any? {
          double.map { NSNumber(value: Float($0)) } ?? int.map { NSNumber(value: $0) }
            ?? long.map { NSNumber(value: $0) } ?? bool.map { NSNumber(value: $0) } ?? string
        }
      }

      struct Values: Decodable {
        let shape: [Int]
        let values: [Float]

        func array() throws -> MLMultiArray {
          let array = try MLMultiArray(
            shape: shape.map { NSNumber(value: $0) }, dataType: .float32)
          for (index, value) in values.enumerated() { array[index] = NSNumber(value: value) }
          return array
        }
      }

      let `class`: String
      let layer: String
      let parameters: [String: Parameter]
      let weights: [[UInt8]]
      let inputs: [Values]
      let outputs: [Values]

      static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("Expected")

      static let all: [Expected] = {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return files.filter { $0.hasSuffix(".json") }.sorted().compactMap { name in
          do {
            return try JSONDecoder().decode(
              Expected.self, from: Data(contentsOf: folder.appendingPathComponent(name)))
          } catch {
            Issue.record("\\(name): \\(error)")
            return nil
          }
        }
      }()
    }

    @Suite struct LayerTests {
      @Test func everyClassAnswersAsExpected() throws {
        for (name, type) in classes {
          let cases = Expected.all.filter { $0.class == name }
          if cases.isEmpty { print("SKIPPED \\(name): Expected contains no file for it") }
          for expected in cases { try check(type, expected) }
        }
      }

      private func check(_ type: any MLCustomLayer.Type, _ expected: Expected) throws {
        var parameters = expected.parameters.compactMapValues(\\.value)
        parameters["engineName"] = expected.class
        let layer = try type.init(parameters: parameters)
        try layer.setWeightData(expected.weights.map { Data($0) })
        let shapes = try layer.outputShapes(
          forInputShapes: expected.inputs.map { $0.shape.map { NSNumber(value: $0) } })
        #expect(shapes.map { $0.map(\\.intValue) } == expected.outputs.map(\\.shape))
        let outputs = try shapes.map { shape in
          let array = try MLMultiArray(shape: shape, dataType: .float32)
          // NaN reveals elements that are never written.
          for index in 0..<array.count { array[index] = NSNumber(value: Float.nan) }
          return array
        }
        try layer.evaluate(inputs: expected.inputs.map { try $0.array() }, outputs: outputs)
        for (output, wanted) in zip(outputs, expected.outputs) where output.count == wanted.values.count {
          for (index, value) in wanted.values.enumerated() {
            let found = output[index].floatValue
            #expect(
              abs(found - value) <= 1e-5 * abs(value) + 1e-6,
              "\\(expected.layer), element \\(index): \\(found), not \\(value)")
          }
        }
      }
    }

    """
  }
}
