import TensorCore
import Testing
import Verification

@testable import Reports

@Suite struct ReportTests {
  /// Names in a file get into the page only as text.
  @Test func namesAreEscapedAndNothingIsLoaded() throws {
    let name = "<script>alert(\u{27}x\u{27})</script>&\u{1B}[31m"
    let comparison = OutputComparison(
      name, actual: Tensor(shape: [2], [1, 2]), expected: Tensor(shape: [2], [1, 3]),
      tolerance: Tolerance(relative: 1e-3, absolute: 1e-3), top: 1)
    var report = Report(name)
    report.add(.facts([("Model", "a \"b\" & c")]))
    report.add([comparison])
    report.add(
      name,
      graph: NetworkGraph([
        NetworkGraph.Part(
          NetworkGraph.Node(name: name, kind: .layer, type: name, shape: name, layer: 0),
          inputs: [name], outputs: [name])
      ]))
    var layer = ReportedLayer(
      name: name, type: name, shape: name, parameterCount: 1, blobs: name)
    layer.multiplyAdds = 2
    layer.fields = [(name, name)]
    layer.weights = [ReportedWeight(name: name, shape: [1], storage: name, distribution: nil)]
    report.add(name, layers: [layer])
    report.add(
      name, times: [(name: name, milliseconds: 1, cells: [name])], titles: [name])
    report.add(
      name, errors: ErrorPlot([(name: name, error: 1, own: 2, agrees: false)]))
    let html = report.html
    #expect(html.split(separator: "<script", omittingEmptySubsequences: false).count == 2)
    #expect(
      !html.contains("\u{1B}")
        && html.contains("&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&amp;"))
    #expect(html.contains("a &quot;b&quot; &amp; c"))
    #expect(!html.contains("http://") && !html.contains("https://") && !html.contains(" src="))
    // Elements of the page itself are not escaped.
    #expect(!html.contains("&lt;t") && !html.contains("&lt;p") && !html.contains("&lt;span"))
    #expect(html.contains("1 of 1 outputs differ.") && html.contains("1 of 2"))
  }

  /// C0 and C1 controls, text direction, HTML.
  @Test func controlCharactersAreVisible() {
    let page = Report("a\u{1b}\u{9b}\u{202e}<b>").html
    #expect(page.contains("<h1>a\\u{1b}\\u{9b}\\u{202e}&lt;b&gt;</h1>"))
  }

  /// For 0, 1, 2, 3: mean 1.5, standard deviation √1.25.
  @Test func distribution() throws {
    let values = try #require(ValueDistribution([0, 1, 2, 3, .nan], intervals: 2))
    #expect(values.counts == [2, 2] && values.range == 0...3 && values.invalidCount == 1)
    #expect(values.mean == 1.5 && abs(values.deviation - 1.25.squareRoot()) < 1e-15)
    #expect(ValueDistribution([Float.nan]) == nil)
    #expect(
      try #require(ValueDistribution([2, 2] as [Float], intervals: 4)).counts == [2, 0, 0, 0])
  }

  @Test func numbersAreShort() {
    #expect(number(1.0 / 3) == "0.3333")
    #expect(number(.infinity) == "inf")
    #expect(number(1_234_567, digits: 9) == "1234567")
  }
}
