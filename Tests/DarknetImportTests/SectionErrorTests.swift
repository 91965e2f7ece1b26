import ByteFormats
import CoreMLModel
import ImportSupport
import TensorCore
import TestSupport
import Testing

@testable import DarknetImport

/// One error for each kind of mistake, with the line.
@Suite struct SectionErrorTests {
  private static let net = "[net]\nheight=8\nwidth=8\nchannels=4\n"

  @Test(arguments: [
    ("[convolutional]\nfilters=4\n", "line 1: [convolutional] comes first"),
    ("[net]\nheight=8\n", "line 1: [net] does not state the size of the input"),
    ("[net]\nheight=8\nwidth=8\nchannels=4\n", "it has no layers"),
    ("[net]\nheight=2000000000\nwidth=2000000000\nchannels=3\n[avgpool]\n", "exceeds the limit"),
    ("[net]\nheight=8\nwidth=8\nchannels=4\ninputs=3\n[avgpool]\n", "inputs 3 differs from 4 × 8"),
  ])
  func networks(_ text: String, _ message: String) {
    let error = modelError { try convert(text) }
    #expect(error?.message.contains(message) == true, "\(String(describing: error))")
    #expect(error?.file == "m.cfg")
  }

  @Test(arguments: [
    ("[convolutional]\nsize=0\n", "line 6: size: 0 is out of range"),
    ("[convolutional]\nsize=99\n", "a window of 99 does not fit its input's 8"),
    (
      "[convolutional]\nfilters=2147483647\nsize=3\n", "line 6: filters: 2147483647 is out of range"
    ),
    ("[convolutional]\nfilters=1048576\nsize=1000\npad=1\n", "exceeds the limit"),
    ("[convolutional]\nfilters=3\ngroups=2\n", "line 7: groups: 3 filters are not divisible"),
    ("[convolutional]\nfilters=3\ngroups=3\n", "4 channels are not divisible into 3 groups"),
    ("[convolutional]\nshare_index=0\n", "share_index 0 is not an earlier convolution"),
    ("[convolutional]\nsize=3\ndilation=2\n", "line 7: dilation: with size 3 and padding 0"),
    ("[convolutional]\nactivation=silu\n", "Darknet has no activation 'silu'"),
    (
      "[convolutional]\ndontload=1\n",
      "line 6: dontload = 1: weights that are not in the file are not supported"
    ),
    ("[maxpool]\nsize=40\npadding=0\n", "a window of 40 does not fit its input's 8"),
    ("[maxpool]\nsize=2\npadding=9\n", "lie entirely outside the image"),
    ("[route]\n", "line 5: [route] has no 'layers'"),
    ("[route]\nlayers=0\n", "it refers to layer 0, which is not before it"),
    ("[route]\nlayers=-1\n", "it refers to layer -1, which is not before it"),
    ("[avgpool]\n[route]\nlayers=0\ngroups=3\n", "are not divisible into 3 groups"),
    (
      "[avgpool]\n[route]\nlayers=0\ngroups=2\ngroup_id=2\n",
      "group_id 2 is out of range for 2 groups"
    ),
    ("[shortcut]\nfrom=-2\n", "it refers to layer -2, which is not before it"),
    ("[avgpool]\n[upsample]\nstride=3\n[shortcut]\nfrom=0\n", "rows and columns differ"),
    ("[reorg]\nstride=3\n", "8 × 8 is not a multiple of the stride 3"),
    ("[reorg]\nstride=4\n", "4 channels are not a multiple of 16"),
    ("[upsample]\nstride=0\n", "line 6: stride: 0"),
    ("[upsample]\nstride=16384\n[upsample]\nstride=16384\n", "exceeds the limit"),
    ("[crop]\ncrop_height=9\ncrop_width=2\n", "9 × 2 cannot be cut from 8 × 8"),
    ("[softmax]\ntree=9k.tree\n", "tree = 9k.tree, a hierarchy of classes: "),
    ("[softmax]\ngroups=3\n", "256 numbers are not divisible into 3 groups"),
    ("[softmax]\n[convolutional]\n", "returns 256 numbers, not an image"),
    ("[scale_channels]\nfrom=-1\n", "it refers to layer -1"),
    (
      "[region]\nclasses=20\nnum=5\n",
      "its input has 4 channels, but 5 boxes of 25 numbers need 125"
    ),
    ("[yolo]\nclasses=2\nnum=3\nmask=,\n", "line 8: mask: '' is not an integer"),
    ("[detection]\nclasses=2\n", "its input has 256 numbers, but 7 × 7 cells need 196"),
    ("[avgpool]\n[region]\nclasses=0\ncoords=4\nnum=1\n", "its input has 4 channels"),
    ("[conv_lstm]\noutput=3\n", "changes the size of the state"),
    ("[conv_lstm]\npad=1\nstride=2\n", "line 7: stride = 2"),
    (
      "[conv_lstm]\noutput=3\npad=1\ngroups=2\n",
      "3 channels and 3 filters are not divisible into 2"
    ),
    ("[conv_lstm]\noutput=3\npad=1\nbottleneck=1\n", "needs an input of 3 channels, but gets 4"),
    (
      "[conv_lstm]\noutput=3\npad=1\nbottleneck=1\nshortcut=1\n",
      "a shortcut to half of 3 filters"
    ),
    ("[history]\n", "line 5: it stores earlier images"),
    ("[crnn]\nsize=5\n", "changes the size of the state"),
    ("[crnn]\nstride=2\n", "line 6: stride = 2"),
    ("[reorg]\nflatten=1\nextra=1\n", "reads numbers after its input"),
    ("[whatever]\n", "line 5: this section is not supported"),
  ])
  func sections(_ text: String, _ message: String) {
    let error = modelError { try convert(Self.net + text) }
    #expect(error?.description.contains(message) == true, "\(String(describing: error))")
    #expect(error?.layer != nil)
  }

  @Test func gridsEndTheNetwork() {
    let error = modelError {
      try convert(
        Self.net + "[convolutional]\nfilters=7\n[yolo]\nclasses=2\n[convolutional]\nfilters=2\n")
    }
    #expect(error?.layer == "convolutional_2")
    #expect(error?.message == "line 9: it reads the output of a detection head")
  }

  /// Published configurations have such anchors; the grid is unaffected.
  @Test func faultyAnchorsAreReported() throws {
    let head = "[convolutional]\nfilters=7\n[yolo]\nclasses=2\nnum=3\n"
    #expect(
      try convert(Self.net + head + "mask=3\nanchors=1,2\n").notes == [
        "line 11: anchors: 2 numbers, but 3 boxes need 6; boxes cannot be decoded",
        "line 10: mask: anchor 3 of 3; boxes cannot be decoded",
      ])
  }

  @Test func allFaultsAtOnce() {
    let error = modelError {
      try convert(Self.net + "[iseg]\n[avgpool]\n[mystery]\n[history]\n")
    }
    #expect(error?.message.hasPrefix("3 layers cannot be converted:") == true)
    for layer in ["iseg_0", "mystery_2", "history_3"] {
      #expect(error?.message.contains("'\(layer)'") == true)
    }
  }

  @Test func unknownOptionsAreReported() throws {
    let notes = try convert(Self.net + "[avgpool]\nsise=3\nlearning_rate=1\n").notes
    #expect(notes == ["line 6: [avgpool] has no option 'sise'; it has no effect"])
  }

  @Test func customSections() throws {
    var options = ConversionOptions()
    options.customLayers = .allow
    let result = try convert(
      Self.net + "[mystery]\npower=2\nname=x\n[activation]\nactivation=silu\n", options: options)
    let custom = try #require(result.layers[0].parameters as? Custom)
    #expect(custom.className == "mystery")
    #expect(custom.parameters["power"] == .int(2))
    #expect(custom.parameters["name"] == .string("x"))
    #expect((result.layers[1].parameters as? Custom)?.className == "silu")
    options.customLayers = try CustomLayerRules(
      JSONValue(parsing: Array(#"[{"activation": "silu", "className": "SiLU"}]"#.utf8)),
      folder: ".")
    let ruled = try convert(Self.net + "[activation]\nactivation=silu\n", options: options)
    #expect((ruled.layers[0].parameters as? Custom)?.className == "SiLU")
  }

  @Test func formulas() throws {
    var options = ConversionOptions()
    options.customLayers = try CustomLayerRules(
      JSONValue(
        parsing: Array(
          #"""
          [{"activation": "silu", "expression": "x * sigmoid(x)"},
           {"class": "mystery", "expression": "x[:, :, 1:-1, 1:-1] * power",
            "parameters": {"power": "$config.power"}},
           {"class": "halves", "expression": "x[:, 0]"}]
          """#.utf8)),
      folder: ".")
    let result = try convert(
      Self.net + "[activation]\nactivation=silu\n[mystery]\npower=2\n", options: options)
    let types = result.layers.map { $0.parameters.map { type(of: $0).typeName } ?? "" }
    #expect(types == ["activation", "multiply", "crop", "activation"])
    let error = modelError { try convert(Self.net + "[halves]\n", options: options) }
    #expect(error?.message.contains("which is not an image") == true)
  }
}
