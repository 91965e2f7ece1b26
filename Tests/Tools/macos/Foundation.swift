// The parts of Foundation and the standard library that ArgumentParser's declarations use.
// swift-format-ignore-file
public protocol LocalizedError: Error {}
