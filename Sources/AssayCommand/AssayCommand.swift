import ArgumentParser
@main struct AssayCommand: ParsableCommand {}
