/// The oldest system that must run a model: `iOS17`, or a version of the specification.
struct SystemTarget: ExpressibleByArgument {
  let version: Int

  private static let systems = [
    "iOS11", "iOS11.2", "iOS12", "iOS13", "iOS14", "iOS15", "iOS16", "iOS17", "iOS18", "iOS26",
  ]

  init?(argument: String) {
    let index = Self.systems.firstIndex { $0.lowercased() == argument.lowercased() }
    guard let version = index.map({ $0 + 1 }) ?? Int(argument),
      (1...Self.systems.count).contains(version)
    else { return nil }
    self.version = version
  }

  /// - Throws: `.mismatch` if the system has no ML Programs.
  func program() throws -> ProgramTarget {
    let target = ProgramTarget.allCases.last { $0.specificationVersion <= version }
    guard let target else {
      throw ModelError(
        .mismatch, "\(Self.systems[version - 1]) has no ML Programs",
        hint: "they need iOS15; write an .mlmodel for older systems")
    }
    return target
  }
}
