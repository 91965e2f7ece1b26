import CoreMLModel
import TestSupport
import Testing

@testable import KerasImport

/// Boxes derived from the definition in ssd_keras; a network is compared with its predictions in
/// `Fixtures/keras/collections/anchor_boxes.h5`.
@Suite struct AnchorBoxesTests {
  private func converted(_ fields: String, size: String = "1, 2") throws -> Converted {
    try convert(
      single(
        "AnchorBoxes", input: "[null, \(size), 4]",
        #""img_height": 20, "img_width": 30, "this_scale": 0.5, "next_scale": 0.8, "#
          + #""aspect_ratios": [4.0], "coords": "corners", "# + fields))
  }

  /// The shorter side is 20, so a box with aspect ratio 4 is 20 wide and 5 high. The centers are
  /// half a step from the edges: 7.5 and 22.5 across, 10 down.
  @Test func cornersOfTwoBoxes() throws {
    let model = try converted(#""variances": [0.1, 0.2, 0.3, 0.4]"#)
    let constants = model.layers.compactMap { $0.parameters as? LoadConstant }
    // Core ML's constant has the values of a box as its channels.
    let columns = [
      [-2.5, 12.5], [7.5, 7.5], [17.5, 32.5], [12.5, 12.5], [0.1, 0.1], [0.2, 0.2], [0.3, 0.3],
      [0.4, 0.4],
    ]
    #expect(constants.map(\.shape) == [[8, 1, 2]])
    #expect(try constants.first?.data?.floatValue.array() == columns.joined().map { Float($0) })
    #expect(model.result.notes.isEmpty)
  }

  @Test func stepsThatAreNotStoredAreNoted() throws {
    let note = try converted("\"clip_boxes\": true", size: "3, 4").result.notes.first ?? ""
    #expect(note.contains("does not store 'this_steps', so the boxes are 6.666666666666667 ×"))
    #expect(try converted("\"this_steps\": [8, 8]", size: "3, 4").result.notes.isEmpty)
  }

  @Test(arguments: [
    (#""variances": [0.1]"#, "variances"), (#""coords": "polar""#, "coords"),
    (#""this_steps": [1, 2, 3]"#, "this_steps"), (#""this_offsets": [-1]"#, "this_offsets"),
  ])
  func faultsNameTheField(_ fields: String, _ name: String) {
    let text = single(
      "AnchorBoxes", input: "[null, 1, 2, 4]",
      #""img_height": 20, "img_width": 30, "this_scale": 0.5, "next_scale": 0.8, "# + fields)
    let error = modelError { try convert(text) }
    #expect(error?.description.contains(name) == true)
    #expect(error?.layer == "layer")
  }
}
