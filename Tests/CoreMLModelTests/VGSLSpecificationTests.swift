import TensorCore
import TestSupport
import Testing

@testable import CoreMLModel

struct VGSLSpecificationTests {
  private let path = Fixtures("kraken").path("recognition.mlmodel")

  private func connected(_ specification: String) throws -> Model {
    var model = try Model(uncheckedContentsOf: path)
    model.description?.metadata?.userDefined["vgsl"] = specification
    try model.connectVGSLNetwork()
    return model
  }

  /// Sizes from the specification: a height of 12, any width, one channel.
  @Test func input() throws {
    let model = try Model(contentsOf: path)
    guard case .multiArray(let array)? = model.description?.input.first?.type?.kind else {
      Issue.record("the input is no array")
      return
    }
    #expect(array.shape == [1, 1, 12, 12])
    #expect(
      array.flexibility
        == .range([SizeRange(1, 1), SizeRange(1, 1), SizeRange(12, 12), SizeRange(1, -1)]))
  }

  /// Only the first pass changes anything, and other models stay unchanged.
  @Test func connectedOnce() throws {
    let model = try Model(contentsOf: path)
    var again = model
    try again.connectVGSLNetwork()
    #expect(again == model)
    var other = try Model(uncheckedContentsOf: path)
    other.description?.metadata?.userDefined["kraken_meta"] = nil
    let before = other
    try other.connectVGSLNetwork()
    #expect(other == before)
  }

  /// The file itself is not one that Core ML can load.
  @Test func storeIsInvalid() throws {
    let errors = try Model(uncheckedContentsOf: path).validate()
    #expect(errors.count == 1)
    #expect(errors.first?.field == "description.metadata.vgsl")
  }

  @Test(
    arguments: [
      ("[1,12,0,1]", "it has no blocks"), ("1,12,0,1 O1c9", "not a list of blocks"),
      ("[1,12,0 Cr{C_0}4,4,6]", "',' is missing"), ("[1,12,0,0 Cr{C_0}4,4,6]", "has no depth"),
      ("[1,12,0,1 Do Do]", "no block computes anything"),
      ("[1,12,0,1 Cr4,4,6]", "no layer '_conv' has its weights"),
      ("[1,12,0,1 Cr{C_0}4,4,7]", "has 6 outputs"), ("[1,12,0,1 Cr{C_0}4,4,0]", "a size is 0"),
      ("[1,12,0,1 Cr{C_0}4,99999999999999999999,6]", "does not start with a size"),
      ("[1,12,0,1 Cr{C_0}4,4,6,2,2x]", "'x' is left"), ("[1,12,0,1 Cr{C_0", "in brackets"),
      ("[1,12,0,1 Cr{C_0}4,4,6 Cr{C_0}4,4,6]", "no layer 'C_0_conv' has its weights"),
      ("[1,12,0,1 CTr{C_0}4,4,6]", "a transposed convolution is not supported"),
      ("[1,12,0,1 Lrx{L_5}7]", "this direction is not supported"),
      ("[1,12,0,1 Lbxo{L_5}7]", "column of ones is not supported"),
      ("[1,12,0,1 Lfx{L_5}7]", "no layer 'L_5' has its weights"),
      ("[1,12,0,1 Gbx{L_5}7]", "a block of this kind is not supported"),
      ("[1,12,0,1 ([Cr{C_0}4,4,6 I])]", "a block of this kind is not supported"),
      ("[1,12,0,1 S{S_4}4(1x0)1,3]", "there is no axis 4"),
      ("[1,12,0,1 O{O_8}0c9]", "an output of this dimension is not supported"),
      ("[1,12,0,1 O{O_8}1ca9]", "column of ones is not supported"),
    ])
  func refused(_ specification: String, _ reason: String) throws {
    do {
      _ = try connected(specification)
      Issue.record("'\(specification)' was taken")
    } catch let error as ModelError {
      #expect(error.description.contains(reason), "\(error)")
      #expect(error.field == "description.metadata.vgsl")
    }
  }
}
