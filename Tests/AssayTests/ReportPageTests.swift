import CoreMLModel
import Foundation
import TestSupport
import Testing

@testable import Assay

/// A report as its reader sees it: the title, the graph, and the page in a browser.
@Suite struct ReportPageTests {
  private static let demo = Fixtures("demo")
  private static let options = [
    "--image-input", "image", "--input-name", "image", "--output-name", "color", "--preset",
    "keras-tf", "--class-labels", demo.path("labels.txt"),
  ]

  private func page(_ words: [String], in folder: String) throws -> String {
    let path = folder + "/page.html"
    let result = try Command.run(words + ["--report", path])
    #expect(result.code == 0, "\(words): \(result.errors)")
    return try String(contentsOfFile: path, encoding: .utf8)
  }

  /// The number of nodes in the initial view.
  private func shownNodes(_ html: String) -> Int {
    let view = html.components(separatedBy: "<div class=\"viewer ").dropFirst().first ?? ""
    return view.components(separatedBy: "class=\"node ").count - 1
  }

  /// A matrix, its normalization and an activation, 28 times, and a softmax: the blocks fold one by
  /// one.
  @Test func aChainIsNotOneBox() throws {
    try withTemporaryFolder { folder in
      let path = folder + "/chain.mlmodel"
      var network = NeuralNetwork()
      for block in 0..<28 {
        var dense = InnerProduct()
        (dense.inputChannels, dense.outputChannels) = (2, 2)
        dense.matrix = Weights([1, 0, 0, 1])
        var norm = Batchnorm()
        norm.channels = 2
        norm.gamma = Weights([1, 1])
        norm.beta = Weights([0, 0])
        norm.mean = Weights([0, 0])
        norm.variance = Weights([1, 1])
        let parameters: [(String, any LayerParameters)] = [
          ("dense", dense), ("norm", norm), ("relu", Activation(.relu)),
        ]
        for (name, parameters) in parameters {
          let number = network.layers.count
          network.layers.append(
            NeuralNetworkLayer(
              "\(name)\(block)", parameters, input: ["b\(number)"], output: ["b\(number + 1)"]))
        }
      }
      network.layers.append(NeuralNetworkLayer("end", Softmax(), input: ["b84"], output: ["b85"]))
      try model(network, "b0", "b85").write(to: path)
      let html = try page(["inspect", path], in: folder)
      #expect(html.components(separatedBy: "<tr id=\"layer-").count == 86)
      #expect(shownNodes(html) == 28 + 1 + 2)
    }
  }

  private func model(_ network: NeuralNetwork, _ input: String, _ output: String) -> Model {
    func feature(_ name: String) -> FeatureDescription {
      FeatureDescription(
        name: name, kind: .multiArray(ArrayFeatureType(shape: [2], dataType: .double)))
    }
    var model = Model()
    model.specificationVersion = 1
    model.type = .neuralNetwork(network)
    model.description?.input = [feature(input)]
    model.description?.output = [feature(output)]
    return model
  }

  /// The operations are in a table, with their arguments and weights.
  @Test(arguments: ["normalizations", "recurrent", "states", "lists", "quantized", "logical"])
  func everyOperationOfAProgram(_ name: String) throws {
    let path = Fixtures("programs").path(name + ".mlpackage")
    let summary = try #require(ProgramSummary(Model(contentsOf: path)))
    let count = summary.functions.flatMap(\.operations).reduce(0) { $0 + $1.count }
    try withTemporaryFolder { folder in
      let html = try page(["inspect", path], in: folder)
      #expect(html.components(separatedBy: "<tr id=\"layer-").count - 1 == count)
      let whole = html.components(separatedBy: "<div class=\"viewer whole\"").last ?? ""
      let ends = summary.functions.reduce(0) { $0 + $1.inputs.count + $1.outputs.count }
      #expect(whole.components(separatedBy: "class=\"node ").count - 1 == count + ends)
      if name == "recurrent" {
        #expect(html.contains(">weight_ih 9×4</text>") && html.contains("deviation"))
        #expect(html.contains("<th scope=\"row\">direction</th><td>&quot;"))
      }
    }
  }

  /// The title is the file's name without its folder; for `diff`, it names both sides.
  @Test func titles() throws {
    try withTemporaryFolder { folder in
      let (model, other) = (folder + "/m.mlmodel", folder + "/other.mlmodel")
      let picture = Self.demo.path("picture.png")
      let words = ["convert", Self.demo.path("swish.h5"), "-o", model] + Self.options
      #expect(try page(words, in: folder).contains("<h1>swish.h5</h1>"))
      try FileManager.default.copyItem(atPath: model, toPath: other)
      let difference = try page(["diff", model, other, picture], in: folder)
      #expect(difference.contains("<title>other.mlmodel against m.mlmodel</title>"))
      for (name, value) in [("actual", other), ("expected", model), ("input", picture)] {
        #expect(difference.contains("<th scope=\"row\">\(name)</th><td>\(value)</td>"))
      }
      // Each graph's nodes link to the rows of its own table.
      #expect(difference.components(separatedBy: "id=\"layer-0\"").count == 2)
      #expect(difference.components(separatedBy: "id=\"layer-2-0\"").count == 2)
    }
  }

  /// The script runs without errors, and a link to a layer shows the panel.
  @Test(.enabled(if: chromium != nil, "there is no Chromium"))
  func panelInABrowser() throws {
    try withTemporaryFolder { folder in
      let words = ["convert", Self.demo.path("swish.h5"), "-o", folder + "/m.mlmodel"]
      _ = try page(words + Self.options, in: folder)
      let shown = try browse(folder + "/page.html#layer-0", folder)
      #expect(shown.output.contains(#"<div class="tools">"#), "\(shown.output.prefix(200))")
      let panel = shown.output.components(separatedBy: #"<aside class="panel">"#).last ?? ""
      for text in [
        ">conv</h3>", "<th scope=\"row\">kernelSize</th>", ">norm</a>", "weights 12×3×3×3",
      ] {
        #expect(panel.prefix(4_000).contains(text), "\(text)")
      }
      #expect(!shown.errors.contains("CONSOLE"), "\(shown.errors)")
    }
  }

  /// In a narrow window, a long name leaves room for its value.
  @Test(.enabled(if: chromium != nil, "there is no Chromium"))
  func narrowPages() throws {
    try withTemporaryFolder { folder in
      let (path, name) = (folder + "/m.mlmodel", String(repeating: "long_name_", count: 9))
      var network = NeuralNetwork()
      network.layers = [NeuralNetworkLayer("l", Softmax(), input: [name], output: ["y"])]
      try model(network, name, "y").write(to: path)
      var html = try page(["inspect", path], in: folder)
      // The policy would refuse the test's own script.
      html = html.replacing("http-equiv=", with: "data-without=")
      html += """
        <script>
        const cell = [...document.querySelectorAll("th[scope=row]")]
          .find((cell) => cell.textContent.includes("long_name_")).nextElementSibling;
        const place = cell.getBoundingClientRect();
        document.title = `left ${place.width > 150 && place.right <= innerWidth ? "fits" : "fails"}`;
        </script>
        """
      try writeFile(Array(html.utf8), to: folder + "/page.html")
      let shown = try browse(folder + "/page.html", folder, ["--window-size=390,844"])
      #expect(shown.output.contains("<title>left fits</title>"), "\(shown.output.prefix(300))")
    }
  }

  /// A graph that is too wide for the window keeps readable text: 9 of 12 pixels.
  @Test(.enabled(if: chromium != nil, "there is no Chromium"))
  func wideGraphs() throws {
    try withTemporaryFolder { folder in
      let (path, names) = (folder + "/m.mlmodel", (0..<20).map { "branch\($0)" })
      var network = NeuralNetwork()
      network.layers = names.map { NeuralNetworkLayer($0, Softmax(), input: ["x"], output: [$0]) }
      network.layers.append(NeuralNetworkLayer("y", Concat(), input: names, output: ["y"]))
      try model(network, "x", "y").write(to: path)
      var html = try page(["inspect", path], in: folder)
      html = html.replacing("http-equiv=", with: "data-without=")
      html += """
        <script>
        addEventListener("load", () => {
          const image = document.querySelector(".viewer svg");
          document.title = `scale ${image.getAttribute("width") / image.viewBox.baseVal.width}`;
        });
        </script>
        """
      try writeFile(Array(html.utf8), to: folder + "/page.html")
      let shown = try browse(folder + "/page.html", folder, ["--window-size=800,800"])
      #expect(shown.output.contains("<title>scale 0.75</title>"), "\(shown.output.prefix(300))")
    }
  }

  private func browse(
    _ page: String, _ folder: String, _ options: [String] = []
  ) throws -> Program.Result {
    try #require(chromium).run(
      [
        "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--dump-dom",
        "--user-data-dir=" + folder + "/profile",
      ] + options + ["file://" + page])
  }
}

private let chromium = Program.find("chromium")
