import TensorCore
import TestSupport
import Testing

@testable import Engine

@Suite struct ArenaPlannerTests {
  private func random(_ count: Int, steps: Int, seed: UInt64) -> [ArenaPlanner.Buffer] {
    var random = SplitMix64(seed: seed)
    return (0..<count).map { _ in
      let first = Int(random.next() % UInt64(steps))
      let last = min(steps - 1, first + Int(random.next() % 6))
      return ArenaPlanner.Buffer(
        byteCount: Int(random.next() % 10_000), lifetime: first...last)
    }
  }

  private func expectDisjoint(_ buffers: [ArenaPlanner.Buffer], _ planner: ArenaPlanner) {
    for a in buffers.indices {
      #expect(planner.offsets[a] % 64 == 0)
      #expect(planner.offsets[a] + buffers[a].byteCount <= planner.byteCount)
      for b in buffers.indices.dropFirst(a + 1)
      where buffers[a].lifetime.overlaps(buffers[b].lifetime) {
        let isApart =
          planner.offsets[a] + buffers[a].byteCount <= planner.offsets[b]
          || planner.offsets[b] + buffers[b].byteCount <= planner.offsets[a]
        #expect(isApart)
      }
    }
  }

  @Test(arguments: [1, 2, 3, 4, 5] as [UInt64])
  func buffersThatLiveTogetherDoNotOverlap(seed: UInt64) throws {
    let buffers = random(120, steps: 60, seed: seed)
    let planner = try ArenaPlanner(buffers)
    expectDisjoint(buffers, planner)
    // No plan can be smaller than the live buffers at one step; this one stays close to that.
    var needed = 0
    for step in 0..<60 {
      var total = 0
      for buffer in buffers where buffer.lifetime.contains(step) {
        total += (buffer.byteCount + 63) / 64 * 64
      }
      needed = max(needed, total)
    }
    #expect(planner.byteCount >= needed)
    #expect(planner.byteCount <= needed * 5 / 4)
  }

  @Test func aChainNeedsItsTwoLargestNeighbors() throws {
    // Each buffer is written by one step and read by the next.
    let sizes = [640, 1280, 320, 1920, 640]
    let buffers = sizes.enumerated().map {
      ArenaPlanner.Buffer(byteCount: $1, lifetime: $0...$0 + 1)
    }
    let planner = try ArenaPlanner(buffers)
    #expect(planner.byteCount == 1920 + 640)
  }

  @Test func manyBuffersArePlacedInOrderOfTheirFirstStep() throws {
    let buffers = random(ArenaPlanner.exhaustiveLimit + 500, steps: 2000, seed: 9)
    let planner = try ArenaPlanner(buffers)
    var active: [Int] = []
    for index in buffers.indices.sorted(by: {
      buffers[$0].lifetime.lowerBound < buffers[$1].lifetime.lowerBound
    }) {
      active.removeAll { buffers[$0].lifetime.upperBound < buffers[index].lifetime.lowerBound }
      for other in active {
        let isApart =
          planner.offsets[index] + buffers[index].byteCount <= planner.offsets[other]
          || planner.offsets[other] + buffers[other].byteCount <= planner.offsets[index]
        #expect(isApart)
      }
      active.append(index)
    }
  }
}
