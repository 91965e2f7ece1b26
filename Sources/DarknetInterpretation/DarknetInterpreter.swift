import DarknetFormat
import Interpretation
import TensorCore

/// Runs a Darknet network as Joseph Redmon's and Alexey Bochkovskiy's Darknet do, section by
/// section, one image at a time.
///
/// Written from `src/*_layer.c`, `src/blas.c` and `src/parser.c` of pjreddie/darknet and
/// AlexeyAB/darknet. A result is named after its section and index, such as `convolutional_3`. The
/// states of recurrent sections are additional inputs, `NAME_state_in` and `NAME_cell_in`, which
/// default to zeros; their new values are `NAME_state_out` and `NAME_cell_out`.
package struct DarknetInterpreter: SourceInterpreter {
  package let inputs: [SourceInput]
  private let file: String
  private let sections: [DarknetSection]
  /// The last section that reads each section's result.
  private let lastReader: [Int]
  private let outputs: Set<Int>
  private let inputShape: [Int]

  package init(_ source: DarknetSource) throws {
    file = source.path
    var plan: DarknetPlan?
    var failure: (any Error)?
    // Some weights files are ambiguous; the reading that uses all values is right.
    for weights in try WeightCursor.readings(of: source) {
      for storesBiases in [true, false] where plan == nil {
        do {
          plan = try DarknetPlan(source, weights, storesBatchnormBiases: storesBiases)
        } catch { failure = failure ?? error }
      }
    }
    guard let plan else {
      throw failure ?? ModelError(.malformed, "it has no layers", file: source.path)
    }
    sections = plan.sections
    inputShape = plan.inputShape
    let data = SourceInput(
      name: "data", shape: [nil] + (plan.isImage ? plan.inputShape : [plan.inputShape[0]]))
    inputs =
      [data]
      + plan.sections.flatMap { section in
        section.states.map {
          SourceInput(name: "\(section.name)_\($0.name)_in", shape: [nil] + $0.shape)
        }
      }
    var last = Array(sections.indices)
    for (index, section) in sections.enumerated() {
      for read in section.reads { last[read] = max(last[read], index) }
      if index > 0 { last[index - 1] = max(last[index - 1], index) }
    }
    lastReader = last
    // The detection heads, and the last section that is not just for training.
    var final = sections.count - 1
    while final > 0, sections[final].isPassedOver { final -= 1 }
    outputs = Set(plan.sections.indices.filter { plan.sections[$0].isHead } + [final])
  }

  package func run(
    _ inputs: [String: DoubleArray], visit: Visitor, takeOver: Substitute
  ) throws -> [String: DoubleArray] {
    guard let data = inputs["data"], let start = try? data.reshaped(inputShape) else {
      throw ModelError(.mismatch, "the input is not one array of \(inputShape)", file: file)
    }
    var results: [Int: DoubleArray] = [:]
    var named: [String: DoubleArray] = [:]
    var previous = start
    for (index, section) in sections.enumerated() {
      guard let forward = section.forward else {
        // Sections after an unsupported one have unknown shapes, too.
        throw InterpretationError(
          file: file, layer: section.name, layerClass: section.kind,
          "this section is not interpreted")
      }
      var call = SectionRun(name: section.name, input: previous, results: results, given: inputs)
      do {
        let result = try forward(&call)
        let batched = try result.reshaped([1] + result.shape)
        previous = try visit(section.name, batched).map { try $0.reshaped(result.shape) } ?? result
      } catch let error as ModelError {
        throw error.inLayer(section.name, class: section.kind).inFile(file)
      }
      results[index] = previous
      for state in section.states {
        guard let value = call.states[state.name] else { continue }
        let name = "\(section.name)_\(state.name)_out"
        named[name] = try value.reshaped([1] + value.shape)
        _ = try named[name].flatMap { try visit(name, $0) }
      }
      if outputs.contains(index) {
        named[section.name] = try previous.reshaped([1] + previous.shape)
      }
      for position in results.keys where lastReader[position] <= index && position < index {
        results[position] = nil
      }
    }
    return named
  }

  /// The supported sections.
  package static var kinds: Set<String> { Set(DarknetOperations.byKind.keys) }
}

/// A section that is ready to run.
struct DarknetSection {
  let name: String
  let kind: String
  /// Channels, rows and columns of its result.
  let shape: [Int]
  /// The states that it keeps between images.
  var states: [(name: String, shape: [Int])] = []
  /// Earlier sections that it reads, in addition to the previous one.
  var reads: [Int] = []
  var isHead = false
  /// Whether it is only for training.
  var isPassedOver = false
  /// The computation; nil if it is not supported.
  let forward: ((inout SectionRun) throws -> DoubleArray)?
}

/// The input values of a section.
struct SectionRun {
  let name: String
  /// The result of the previous section, `[C, H, W]`.
  let input: DoubleArray
  /// Results of earlier sections.
  let results: [Int: DoubleArray]
  /// The network's inputs.
  let given: [String: DoubleArray]
  /// The states after the image.
  var states: [String: DoubleArray] = [:]

  /// Returns a state before the image.
  func state(_ state: String, _ shape: [Int]) throws -> DoubleArray {
    guard let value = given["\(name)_\(state)_in"] else { return try DoubleArray(shape: shape) }
    return try value.reshaped(shape)
  }

  func result(_ index: Int) throws -> DoubleArray {
    let value = try results[index].orThrow(ModelError(.malformed, "section \(index) has no result"))
    return value
  }
}
