// The parts of Apple's module Dispatch that Sources uses.
// swift-format-ignore-file
public final class DispatchSemaphore: Sendable {
  public init(value: Int) {}
  public func wait() {}
  @discardableResult public func signal() -> Int { 0 }
}
public final class DispatchQueue: Sendable {
  public struct Attributes: OptionSet, Sendable {
    public let rawValue: UInt64
    public init(rawValue: UInt64) { self.rawValue = rawValue }
    public static let concurrent = Self(rawValue: 1)
  }
  public init(label: String, attributes: Attributes = []) {}
  public func async(execute work: @escaping @Sendable @convention(block) () -> Void) {}
}
