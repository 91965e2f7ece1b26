// The additions of Swift's module Darwin to Apple's headers that Sources uses, under Darwin's
// names. Part of the module LibC when macos.sh checks types.
// swift-format-ignore-file

public var errno: Int32 {
  get { __error().pointee }
  set { __error().pointee = newValue }
}

public let S_IFMT = mode_t(0o170000)
public let S_IFDIR = mode_t(0o040000)
public let S_IFREG = mode_t(0o100000)
public let S_IFIFO = mode_t(0o010000)
public let S_IFCHR = mode_t(0o020000)
public let S_IFLNK = mode_t(0o120000)

public func open(_ path: UnsafePointer<CChar>, _ flags: Int32) -> Int32 { fatalError() }
public func open(_ path: UnsafePointer<CChar>, _ flags: Int32, _ mode: mode_t) -> Int32 {
  fatalError()
}
public func fcntl(_ descriptor: Int32, _ command: Int32) -> Int32 { fatalError() }
public func fcntl(_ descriptor: Int32, _ command: Int32, _ value: Int32) -> Int32 { fatalError() }
public func fcntl(
  _ descriptor: Int32, _ command: Int32, _ pointer: UnsafeMutableRawPointer
) -> Int32 { fatalError() }
public func ioctl(
  _ descriptor: Int32, _ request: UInt, _ pointer: UnsafeMutableRawPointer
) -> Int32 { fatalError() }

public func exp(_ x: Float) -> Float { fatalError() }
public func log(_ x: Float) -> Float { fatalError() }
public func pow(_ x: Float, _ y: Float) -> Float { fatalError() }

public var TIOCGWINSZ: UInt { fatalError() }

public var environ: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?> { fatalError() }
public var MAP_FAILED: UnsafeMutableRawPointer! { UnsafeMutableRawPointer(bitPattern: -1) }
public var SIG_DFL: (@convention(c) (Int32) -> Void)? { nil }
public var SIG_IGN: (@convention(c) (Int32) -> Void)? { nil }
public var CLOCK_MONOTONIC: clockid_t { _CLOCK_MONOTONIC }
