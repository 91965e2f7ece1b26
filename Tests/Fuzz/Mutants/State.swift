import LibC

/// The state of a process that tries mutants, in a file that it shares with its supervisor.
struct State {
  private let words: UnsafeMutablePointer<Int64>
  static let byteCount = 4096

  /// - Returns: nil if the file cannot be created or mapped.
  init?(_ path: String) {
    let descriptor = open(path, O_RDWR | O_CREAT, 0o600)
    guard descriptor >= 0, ftruncate(descriptor, off_t(Self.byteCount)) == 0 else { return nil }
    defer { close(descriptor) }
    let address = mmap(nil, Self.byteCount, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0)
    guard let address, address != MAP_FAILED else { return nil }
    words = address.bindMemory(to: Int64.self, capacity: Self.byteCount / 8)
  }

  /// The current mutant, counted from the process's first one.
  var current: Int {
    get { Int(words[0]) }
    nonmutating set { words[0] = Int64(newValue) }
  }
  /// The time at which it started, in nanoseconds; 0 before the first mutant.
  var begin: Int64 {
    get { words[1] }
    nonmutating set { words[1] = newValue }
  }
  var accepted: Int {
    get { Int(words[2]) }
    nonmutating set { words[2] = Int64(newValue) }
  }
  var refused: Int {
    get { Int(words[3]) }
    nonmutating set { words[3] = Int64(newValue) }
  }
  var longest: Int64 {
    get { words[4] }
    nonmutating set { words[4] = newValue }
  }
  /// The largest memory, in bytes.
  var largest: Int {
    get { Int(words[5]) }
    nonmutating set { words[5] = Int64(newValue) }
  }

  static var now: Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }
}
