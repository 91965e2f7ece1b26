import Testing

@testable import Detection

@Suite struct SuppressionTests {
  /// 80 boxes of three classes, compared with OpenCV's `NMSBoxesBatched` with a threshold of 0.4.
  @Test func asOpenCV() throws {
    let candidates = try Fixture.objects("candidates")
    let kept = try Fixture.array("kept").elements.map { candidates[Int($0)] }
    let found = Suppression.best(candidates.filter { $0.score > 0.2 }, overlap: 0.4)
    #expect(kept.count > 20 && kept.count < 60)
    #expect(found.inOrder == kept.inOrder)
    #expect(found.map(\.score) == found.map(\.score).sorted(by: >))
  }

  @Test func overlap() {
    let unit = Box(left: 0, top: 0, right: 2, bottom: 2)
    #expect(unit.overlap(unit) == 1)
    // Each box covers half of the other: 2 / (4 + 4 − 2).
    #expect(abs(unit.overlap(Box(left: 1, top: 0, right: 3, bottom: 2)) - 1.0 / 3) < 1e-15)
    #expect(unit.overlap(Box(left: 2, top: 0, right: 3, bottom: 2)) == 0)
    #expect(unit.overlap(Box(left: 1, top: 1, right: 1, bottom: 2)) == 0)
  }

  /// A suppressed middle box must not suppress boxes that overlap only with it; classes are
  /// separate.
  @Test func greedyAndByClass() {
    func object(_ left: Double, _ score: Double, _ label: Int = 0) -> DetectedObject {
      DetectedObject(
        box: Box(left: left, top: 0, right: left + 4, bottom: 1), classIndex: label, score: score)
    }
    // Neighbors share 2.5 of 5.5 (0.4545), the outer two 1 of 7.
    let chain = [object(0, 0.9), object(1.5, 0.8), object(3, 0.7)]
    #expect(Suppression.best(chain, overlap: 0.4).map(\.score) == [0.9, 0.7])
    #expect(Suppression.best(chain, overlap: 0.46).count == 3)
    let other = chain + [object(1.5, 0.85, 1)]
    #expect(Suppression.best(other, overlap: 0.4).map(\.score) == [0.9, 0.85, 0.7])
  }

  @Test func manyCandidatesEndSoon() {
    let objects = (0..<200_000).map { index in
      DetectedObject(
        box: Box(
          left: Double(index), top: 0, right: Double(index) + 0.5, bottom: 1), classIndex: 0,
        score: 0.5)
    }
    #expect(Suppression.best(objects, overlap: 0.5).count == Suppression.candidatesOfClass)
  }
}
