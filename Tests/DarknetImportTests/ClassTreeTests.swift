import TensorCore
import Testing

@testable import DarknetImport

@Suite struct ClassTreeTests {
  private func groups(_ text: String) throws -> [Int] {
    try ClassTree(Bytes(Array(text.utf8))).groups
  }

  /// As in `read_tree` of Darknet's `tree.c`, a group ends where the parent changes.
  @Test func groupsOfClassesWithOneParent() throws {
    #expect(try groups("a -1\nb -1\nc 0\nd 1\ne 1\n") == [2, 1, 2])
    #expect(try groups("a -1\r\nb\t0\r\nc 0") == [1, 2])
    #expect(try groups("a\nb\n") == [2])
  }

  @Test(arguments: [
    "a 0\n", "a -2\n", "a -1\nb x\n", "a -1\nb 99999999999999999999\n", "a -1\n\nb 0\nc 7\n",
  ])
  func aParentThatIsNotThere(_ text: String) {
    #expect(throws: ModelError.self) { try groups(text) }
  }
}
