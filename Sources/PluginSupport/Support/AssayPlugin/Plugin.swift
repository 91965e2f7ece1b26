import CAssayPlugin
import CoreML
import Foundation

/// The table of a plug-in whose classes are written against Core ML.
public enum Plugin {
  /// A class with the name that models use for it.
  public typealias Class = (name: String, type: any MLCustomLayer.Type)

  // `unsafe`: set once, by the first call of the plug-in's entry.
  nonisolated(unsafe) private static var classes: [Class] = []
  nonisolated(unsafe) private static var table: UnsafePointer<assay_plugin>?

  /// The result of `assay_plugin_entry`: nil for a program of another version.
  ///
  /// - Parameter classes: the classes with the names that models use for them.
  public static func table(
    _ version: UInt32, _ host: UnsafePointer<assay_host>?, _ classes: [Class]
  ) -> UnsafePointer<assay_plugin>? {
    guard version == UInt32(ASSAY_PLUGIN_VERSION) else { return nil }
    assay_plugin_set_host(host)
    if let table { return table }
    self.classes = classes
    let names = UnsafeMutablePointer<UnsafePointer<CChar>?>.allocate(capacity: classes.count)
    for (index, entry) in classes.enumerated() {
      (names + index).initialize(to: UnsafePointer(strdup(entry.name)))
    }
    let made = UnsafeMutablePointer<assay_plugin>.allocate(capacity: 1)
    made.initialize(
      to: assay_plugin(
        // "ASSAYPLG"
        magic: 0x474c_5059_4153_5341, version: UInt32(ASSAY_PLUGIN_VERSION),
        class_count: UInt32(classes.count), class_names: UnsafePointer(names),
        create: { Plugin.create(Int($0), UnsafeBufferPointer(start: $1, count: $2), $3) },
        set_weights: { handle, weights, count, error in
          Plugin.reporting(error) {
            let weights = UnsafeBufferPointer(start: weights, count: count)
            try Plugin.layer(handle).setWeightData(
              weights.map { weight in
                weight.bytes.map { Data(bytes: $0, count: weight.byte_count) } ?? Data()
              })
          }
        },
        output_shapes: { handle, inputs, inputCount, outputs, outputCount, error in
          Plugin.reporting(error) {
            let inputs = UnsafeBufferPointer(start: inputs, count: inputCount)
            let shapes = try Plugin.layer(handle).outputShapes(
              forInputShapes: inputs.map(\.numbers))
            let capacity = outputCount?.pointee ?? 0
            for (index, shape) in shapes.prefix(capacity).enumerated() {
              outputs?[index] = try assay_shape(shape)
            }
            outputCount?.pointee = shapes.count
          }
        },
        evaluate: { handle, inputs, inputCount, outputs, outputCount, error in
          Plugin.reporting(error) {
            let inputs = try Plugin.arrays(inputs, inputCount)
            let outputs = try Plugin.arrays(outputs, outputCount)
            try Plugin.layer(handle).evaluate(inputs: inputs, outputs: outputs)
            try Plugin.checkIndices(inputs + outputs)
          }
        },
        destroy: { handle in
          if let handle { Unmanaged<LayerBox>.fromOpaque(handle).release() }
        }))
    table = UnsafePointer(made)
    return table
  }
}

/// The object behind a handle.
private final class LayerBox {
  let layer: any MLCustomLayer
  init(_ layer: any MLCustomLayer) { self.layer = layer }
}

extension Plugin {
  private static func create(
    _ index: Int, _ parameters: UnsafeBufferPointer<assay_parameter>,
    _ error: UnsafeMutablePointer<CChar>?
  ) -> UnsafeMutableRawPointer? {
    var handle: UnsafeMutableRawPointer?
    _ = reporting(error) {
      var values: [String: Any] = [:]
      for parameter in parameters {
        guard let name = parameter.name else { continue }
        values[String(cString: name)] = parameter.value
      }
      let layer = try classes[index].type.init(parameters: values)
      handle = Unmanaged.passRetained(LayerBox(layer)).toOpaque()
    }
    return handle
  }

  private static func layer(_ handle: UnsafeMutableRawPointer?) throws -> any MLCustomLayer {
    guard let handle else { throw PluginError(description: "no layer was given") }
    return Unmanaged<LayerBox>.fromOpaque(handle).takeUnretainedValue().layer
  }

  private static func arrays(
    _ arrays: UnsafePointer<assay_array>?, _ count: Int
  ) throws -> [MLMultiArray] {
    try UnsafeBufferPointer(start: arrays, count: count).map { array in
      guard let elements = array.elements,
        let type = MLMultiArrayDataType(rawValue: Int(array.element_type))
      else { throw PluginError(description: "an array of unknown type \(array.element_type)") }
      return try MLMultiArray(
        dataPointer: elements, shape: array.shape.numbers, dataType: type,
        strides: withUnsafeBytes(of: array.strides) { bytes in
          bytes.bindMemory(to: Int64.self).prefix(array.shape.rank).map { NSNumber(value: $0) }
        }, deallocator: nil)
    }
  }

  /// Apple's arrays raise an exception for an index out of range; those on Linux record it.
  private static func checkIndices(_ arrays: [MLMultiArray]) throws {
    #if os(Linux)
      for array in arrays { if let fault = array.fault { throw PluginError(description: fault) } }
    #endif
  }

  /// Returns 0, or 1 and the error's type and text.
  private static func reporting(
    _ text: UnsafeMutablePointer<CChar>?, _ body: () throws -> Void
  ) -> Int32 {
    do {
      try body()
      return 0
    } catch {
      guard let text else { return 1 }
      let message = Array(describe(error).utf8.prefix(Int(ASSAY_ERROR_SIZE) - 1))
      for (index, byte) in message.enumerated() { text[index] = CChar(bitPattern: byte) }
      text[message.count] = 0
      return 1
    }
  }

  private static func describe(_ error: any Error) -> String {
    if let own = error as? PluginError { return own.description }
    let type = String(describing: Swift.type(of: error))
    let said = (error as? any LocalizedError)?.errorDescription ?? "\(error)"
    return said.hasPrefix(type) ? said : "\(type): \(said)"
  }
}

private struct PluginError: Error, CustomStringConvertible { let description: String }
