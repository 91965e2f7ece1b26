import CoreMLModel
import Testing

@Suite struct NamePoolTests {
  @Test func eachNameIsGivenOnce() {
    var names = NamePool(["conv", "conv_3"])
    #expect(
      (0..<4).map { _ in names.take("conv") } == ["conv_", "conv__", "conv_4", "conv_5"])
    #expect(names.take("conv_") == "conv___")
    #expect(names.take("pool") == "pool")
  }

  /// Adding one underscore each time would make names of 450 million characters in total, and
  /// compare them.
  @Test func manyEqualNamesStayShort() {
    var names = NamePool()
    var longest = 0
    for _ in 0..<30_000 { longest = max(longest, names.take("x").utf8.count) }
    #expect(longest == "x_29999".utf8.count)
  }

  @Test func removedNamesAreFree() {
    var names = NamePool(["x"])
    #expect(names.take("x") == "x_")
    names.remove(["x_"])
    #expect(names.take("x") == "x_")
  }
}
