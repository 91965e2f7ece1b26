import TestSupport
import Testing

/// The journeys in `Tests/Tools/journeys`: common tasks, from the first command to the last. `make
/// journeys` runs only these.
@Suite struct JourneyTests {
  private static let folder = "Tests/Tools/journeys"

  private static let all = fileNames(in: "\(packageRoot)/\(folder)")
    .filter { $0.hasSuffix(".md") && $0 != "README.md" }
    .compactMap { try? Page("\(folder)/\($0)") }

  private static func needsShared(_ page: Page) -> Bool {
    page.lines.contains { $0.contains("$ASSAY_SHARED") }
  }

  static let selfContained = all.filter { !needsShared($0) }
  static let ofRealModels = all.filter(needsShared)

  @Test(arguments: selfContained)
  func journey(_ page: Page) throws { try page.expectShownOutput() }

  @Test(.shared("models"), arguments: ofRealModels)
  func journeyWithRealModels(_ page: Page) throws { try page.expectShownOutput() }
}
