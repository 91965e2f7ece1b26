/// The output of an earlier `bench --json`.
struct EarlierResult {
  let timings: Timings
  let threadCount: Int?
  let instructionSet: String?

  init(contentsOf path: String) throws {
    let bytes = try MappedFile.read(path, limit: Limits.jsonBytes).array(of: UInt8.self)
    self = try inFile(path) { try EarlierResult(lines: bytes.split(separator: 0x0A)) }
  }

  private init(lines: [ArraySlice<UInt8>]) throws {
    var times: [Double] = []
    var threads: Int?
    var set: String?
    for (number, line) in lines.enumerated() {
      let value: JSONValue
      do { value = try JSONValue(parsing: Array(line)) } catch {
        throw ModelError(
          .malformed, "line \(number + 1) is not JSON",
          hint: "give a file that `assay bench --json` printed")
      }
      if let time = value["ms"]?.double { times.append(time) }
      threads = value["threads"]?.int ?? threads
      set = value["instruction_set"]?.string ?? set
    }
    let timings = try Timings(times).orThrow(
      ModelError(
        .malformed, "the file contains no times",
        hint: "give a file that `assay bench --json` printed"))
    (self.timings, threadCount, instructionSet) = (timings, threads, set)
  }
}
