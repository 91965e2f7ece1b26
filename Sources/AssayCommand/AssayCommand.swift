import ArgumentParser

@main struct AssayCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "assay",
    abstract: "Converts Keras networks to Core ML, runs them, and shows that nothing was lost.")
}
