import LibC
import TensorCore
import TestSupport
import Testing

@testable import HDF5Reader

/// Workers that are missing, crash, hang or return nonsense cause one error each, in time.
struct WorkerTests {
  private func failure(of script: String, timeout: Double = 20) throws -> ModelError? {
    try withFile(Array("#!/bin/sh\n\(script)\n".utf8), mode: 0o700) { worker in
      var error: ModelError?
      // The script is busy while a process that another test is starting holds it open.
      repeat {
        error = #expect(throws: ModelError.self) {
          try HDF5File.open(
            fixtures.path("keras.h5"), access: .isolated(worker: worker, timeout: timeout))
        }
      } while error?.message.contains(String(cString: strerror(ETXTBSY))) == true
      #expect(error?.file == fixtures.path("keras.h5"))
      return error
    }
  }

  @Test func namesThePlacesWithoutAWorker() throws {
    let error = #expect(throws: ModelError.self) {
      try HDF5File.open(fixtures.path("keras.h5"), access: .isolated(worker: "/nowhere/assay-hdf5"))
    }
    #expect(error?.code == .internal)
    #expect(error?.message.contains("/nowhere/assay-hdf5") == true)
    #expect(error?.hint?.contains("ASSAY_HDF5_WORKER") == true)
  }

  @Test func findsTheWorkerBesideTheTests() throws {
    #expect(try WorkerLocation.find().hasSuffix("/assay-hdf5"))
  }

  @Test(arguments: [(SIGSEGV, "SIGSEGV"), (SIGABRT, "SIGABRT"), (SIGKILL, "SIGKILL")])
  func namesTheSignalOfACrash(signal: Int32, name: String) throws {
    let error = try failure(of: "kill -\(signal) $$")
    #expect(error?.code == .malformed)
    #expect(
      error?.message == "the HDF5 library could not read this file (crashed: \(name)). "
        + "It is corrupt or hostile")
  }

  @Test(arguments: ["exec sleep 100", "exec 4>&-; exec sleep 100", "sleep 100 & exit 0"])
  func endsAWorkerThatHangs(script: String) throws {
    let start = ContinuousClock.now
    let error = try failure(of: script, timeout: 0.5)
    #expect(error?.message.contains("took longer than 1 s") == true)
    #expect(ContinuousClock.now - start < .seconds(5))
  }

  @Test func namesTooMuchProcessorTime() throws {
    let error = try failure(of: "kill -XCPU $$")
    #expect(error?.message.contains("took too much processor time") == true)
  }

  @Test func understandsAStartThatFails() throws {
    #expect(try failure(of: "exit 127")?.message.contains("does not start") == true)
    #expect(try failure(of: "exit 3")?.message.contains("exit status 3") == true)
  }

  @Test(arguments: [
    "exit 0", "printf garbage >&4", "head -c 300000 /dev/urandom >&4",
    #"printf 'ASSAYH5\003' >&4"#, #"printf 'ASSAYH5\003\010\000\000\000\000' >&4"#,
    #"printf 'ASSAYH5\003\001\377\377\377\377' >&4"#,
  ])
  func refusesNonsense(script: String) throws {
    let error = try failure(of: script)
    #expect(error?.code == .malformed)
    #expect(error?.message.contains("is invalid") == true)
  }

  @Test func endsAnEndlessAnswer() throws {
    let error = try failure(of: "exec cat /dev/zero >&4")
    #expect(error?.message.contains("more than") == true)
  }

  @Test func refusesAnotherVersion() throws {
    let error = try failure(of: #"printf 'ASSAYH5\011' >&4"#)
    #expect(error?.code == .internal)
    #expect(error?.message.contains("version 9") == true)
  }

  #if os(Linux)
    @Test func confinesTheWorker() throws {
      let input = try HDF5Input(path: fixtures.path("keras.h5"))
      let process = WorkerProcess(executable: try WorkerLocation.find(), timeout: 20)
      // The bits of `Confinement.leaks`: other files, new files, sockets, processes.
      let (_, end) = try process.run(verb: "leaks", file: input.descriptor, region: nil)
      guard case .exited(let leaks) = end else { throw ModelError(.internal, "\(end)") }
      #expect(leaks == 0)
    }
  #endif

  @Test func givesTheWorkerNothingButTheFile() throws {
    // The error message contains the environment and the open descriptors.
    let error = try failure(
      of: """
        list=$(env | cut -d= -f1 | grep -v -e PWD -e _ -e SHLVL -e OLDPWD; \
        cd /proc/self/fd && echo *)
        text="<$(echo $list)>"
        { printf 'ASSAYH5\\003\\011'; \
        printf "\\\\$(printf %03o $((${#text} + 5)))\\000\\000\\000\\000"; \
        printf "\\\\$(printf %03o ${#text})\\000\\000\\000%s" "$text"; } >&4
        """)
    #if os(Linux)
      let text = try #require(error?.message)
      #expect(text.hasPrefix("<") && text.hasSuffix(">"), "\(text)")
      let descriptors = text.dropFirst().dropLast().split(separator: " ").compactMap { Int($0) }
      #expect(descriptors.contains(3) && descriptors.contains(4))
      // 5 and 6 may belong to the shell, for its script and the folder that it lists.
      #expect(descriptors.allSatisfy { $0 <= 4 || $0 == 10 || $0 == 11 || $0 <= 6 }, "\(text)")
      #expect(!text.contains("HOME") && !text.contains("PATH"), "\(text)")
    #endif
  }
}
