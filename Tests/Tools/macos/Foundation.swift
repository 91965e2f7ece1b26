// What ArgumentParser's declarations use of Foundation, and of the standard library beyond Embedded Swift's.
// swift-format-ignore-file
public protocol LocalizedError: Error {}
