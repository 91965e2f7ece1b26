import LibC
import TensorCore

/// Starts a worker process for each pass over the file.
struct WorkerBackend: HDF5Backend {
  let explicitPath: String?
  let timeout: Double?

  func describe(_ input: HDF5Input) throws -> [UInt8] {
    try run("describe", input, region: nil, extraBytes: 0)
  }

  func read(
    _ requests: [HDF5Request], from input: HDF5Input, byteCount: Int
  ) throws -> (frames: [UInt8], values: Bytes) {
    let (table, valuesStart) = RequestTable.encode(requests)
    let region = try SharedRegion(byteCount: try checkedSum([valuesStart, byteCount]))
    try region.write(table)
    let frames = try run("read", input, region: region.descriptor, extraBytes: byteCount)
    let contents = try region.frozen()
    return (frames, contents[valuesStart..<valuesStart + byteCount])
  }

  private func run(
    _ verb: String, _ input: HDF5Input, region: Int32?, extraBytes: Int
  ) throws -> [UInt8] {
    let executable = try WorkerLocation.find(explicitPath: explicitPath)
    let seconds = timeout ?? 60 + Double(input.size + extraBytes) / Double(4 << 20)
    let process = WorkerProcess(executable: executable, timeout: seconds)
    let (frames, end) = try process.run(verb: verb, file: input.descriptor, region: region)
    switch end {
    case .exited(0): return frames
    case .exited(let status):
      // A shell or the dynamic linker exits with 126 or 127 if it could not start the program.
      if status == 126 || status == 127 {
        throw ModelError(
          .internal, "the HDF5 worker \(executable) does not start (exit status \(status))",
          hint: "run it by hand to see why; libhdf5 may be missing")
      }
      throw failure("it ended with exit status \(status)")
    case .signalled(let signal):
      throw failure(
        signal == SIGXCPU ? "took too much processor time" : "crashed: \(name(of: signal))")
    case .timedOut(let limit): throw failure("took longer than \(Int(limit.rounded(.up))) s")
    case .tooMuch: throw failure("more than \(HDF5Limits.frameBytes) bytes of names")
    }
  }

  private func failure(_ what: String) -> ModelError {
    ModelError(
      .malformed,
      "the HDF5 library could not read this file (\(what)). It is corrupt or hostile")
  }

  private func name(of signal: Int32) -> String {
    let names: [Int32: String] = [
      SIGSEGV: "SIGSEGV", SIGBUS: "SIGBUS", SIGABRT: "SIGABRT", SIGFPE: "SIGFPE",
      SIGILL: "SIGILL", SIGKILL: "SIGKILL", SIGTERM: "SIGTERM", SIGTRAP: "SIGTRAP",
      SIGSYS: "SIGSYS", SIGXFSZ: "SIGXFSZ", SIGPIPE: "SIGPIPE",
    ]
    return names[signal] ?? "signal \(signal)"
  }
}
