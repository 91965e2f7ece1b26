import Foundation
import Testing

extension Trait where Self == ConditionTrait {
  /// Skips the test if one of these files and folders of `Shared` is missing.
  package static func shared(_ names: String...) -> Self {
    .enabled("\(names.joined(separator: ", ")) not in ../shared (ASSAY_SHARED names another)") {
      names.allSatisfy(Shared.has)
    }
  }

  /// Skips the test unless the environment variable is set.
  package static func environment(_ name: String, _ meaning: Comment) -> Self {
    .enabled(if: ProcessInfo.processInfo.environment[name] != nil, "\(name) is not set: \(meaning)")
  }

  /// Skips the test under a sanitizer, which changes time, memory and allocations.
  package static var unsanitized: Self {
    .disabled(
      if: ProcessInfo.processInfo.environment["ASSAY_SANITIZER"] != nil, "under a sanitizer")
  }

  /// Skips the test unless the program is installed.
  package static func program(_ name: String) -> Self {
    .enabled(if: Program.find(name) != nil, "\(name) is not installed")
  }
}
