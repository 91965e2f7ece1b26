import Testing

@testable import Verification

@Suite struct ClassificationTests {
  private func example() -> Classification {
    var result = Classification(classes: ["a", "b", "c"], top: 2, mistakeLimit: 2)
    result.add("1", truth: 0, scores: [0.5, 0.3, 0.2])
    result.add("2", truth: 0, scores: [0.3, 0.6, 0.1])
    result.add("3", truth: 1, scores: [0.4, 0.1, 0.5])
    result.add("4", truth: 1, scores: [0.1, 0.7, 0.2])
    result.add("5", truth: 1, scores: [0.95, 0.05, 0])
    return result
  }

  // By hand: a → a, b; b → c, b, a.
  @Test func sharesAreThoseOfTheMatrix() {
    let result = example()
    #expect(result.accuracy == 0.4 && result.topAccuracy == 0.8)
    #expect(result.recall(0) == 0.5 && result.precision(0) == 0.5)
    #expect(result.recall(1) == 1.0 / 3 && result.precision(1) == 0.5)
    #expect(result.recall(2) == nil && result.precision(2) == 0)
    #expect(result.confusions.map(\.count) == [1, 1, 1])
  }

  @Test func theMostConfidentMistakesAreKept() {
    #expect(example().mistakes.map(\.input) == ["5", "2"])
  }

  @Test func equalScoresAndNaN() {
    var result = Classification(classes: ["a", "b"], top: 1, mistakeLimit: 1)
    result.add("equal", truth: 0, scores: [0.5, 0.5])
    #expect(result.countCorrect == 1)
    result.add("equal", truth: 1, scores: [0.5, 0.5])
    #expect(result.countCorrect == 1)
    result.add("nan", truth: 1, scores: [.nan, -1])
    #expect(result.countCorrect == 2)
  }
}
