import Foundation
import TestSupport
import Testing

@testable import AssayCommand

#if os(Linux)
  /// The output for the user: the same commands on a pseudo-terminal, through util-linux's
  /// `script`, and in a pipe.
  @Suite struct TerminalTests {
    private static let demo = "\(packageRoot)/Fixtures/demo"
    private static let convert =
      "convert '\(demo)/swish.h5' -o m.mlmodel --lambda auto --image-input image --input-name image "
      + "--output-name color --image-scale 1/127.5 --red-bias=-1 --green-bias=-1 --blue-bias=-1 "
      + "--class-labels '\(demo)/labels.txt' --check '\(demo)/picture.png' "
      + "--expected '\(demo)/expected.npz'"

    /// The output of a command on a terminal with this number of columns; `$A` is the program.
    private func onTerminal(
      _ command: String, columns: Int = 80, terminal: String = "xterm", in folder: String
    ) throws -> String {
      let script = "stty cols \(columns); cd '\(folder)'; A='\(Command.binary)'; \(command)"
      return try Program("/usr/bin/script").run(
        ["-qec", script, "/dev/null"], environment: ["TERM": terminal, "NO_COLOR": "1"]
      ).output.replacing("\r\n", with: "\n")
    }

    /// Keras 2.21.0; (3·9·12 + 12) + 4·12 + (12·9·20 + 20) + (20·3 + 3) parameters.
    @Test(.program("script")) func aConversionSaysWhatItMade() throws {
      try withTemporaryFolder { folder in
        let text = try onTerminal("$A \(Self.convert)", in: folder)
        let size = try Data(contentsOf: URL(filePath: folder + "/m.mlmodel")).count
        for line in [
          "read     \(Self.demo)/swish.h5: Keras 2.21.0", "network  10 layers, 2,627 parameters",
          "classes  3: red, green, blue",
          "runs on  iOS 11, macOS 10.13 and later (specification version 1)",
          "wrote m.mlmodel, \(groupedBytes(size)) bytes",
        ] {
          #expect(
            "\n\(text)".replacing("\n         ", with: " ").contains("\n\(line)"),
            "\(line) in:\n\(text)")
        }
        #expect(text.contains("input    image: image 64×64 RGB"), "\(text)")
        #expect(
          text.replacing("\n         ", with: " ").contains(
            /agrees: largest error .*, same 3 best classes/),
          "\(text)")
        #expect(try onTerminal("$A \(Self.convert) -q", in: folder) == "")
        #expect(try onTerminal("$A \(Self.convert) 2>&1 | cat", in: folder) == "")
      }
    }

    private func groupedBytes(_ count: Int) -> String {
      "\(count / 1000)," + String(count % 1000 + 1000).dropFirst()
    }

    @Test(.program("script")) func classesTheAppNeeds() throws {
      try withTemporaryFolder { folder in
        let text = try onTerminal(
          "$A convert '\(Self.demo)/swish.h5' -o m.mlmodel --custom-layers '\(Self.demo)/rules.json'",
          in: folder)
        #expect(text.contains("needs    class Swish in the app, for layer 'swish'"), "\(text)")
      }
    }

    @Test(.program("script")) func writtenFilesAreNamed() throws {
      try withTemporaryFolder { folder in
        _ = try onTerminal("$A \(Self.convert)", in: folder)
        for (command, files) in [
          ("run m.mlmodel '\(Self.demo)/picture.png' -o o.npz", ["o.npz"]),
          ("edit m.mlmodel -o e.mlmodel --rename image=photo", ["e.mlmodel"]),
          ("compress m.mlmodel -o c.mlmodel --precision float16", ["c.mlmodel"]),
          (
            "diff m.mlmodel '\(Self.demo)/picture.png' --expected '\(Self.demo)/expected.npz' "
              + "--report r.html", ["r.html"]
          ),
        ] {
          let text = try onTerminal("$A \(command)", in: folder)
          for file in files { #expect(text.contains("\nwrote \(file), "), "\(command):\n\(text)") }
          let piped = try onTerminal("$A \(command) 2>&1 | cat", in: folder)
          // `run` may write more files than its options name.
          #expect(piped.contains("wrote ") == command.hasPrefix("run"), "\(piped)")
        }
        let several = try onTerminal(
          "$A run m.mlmodel '\(Self.demo)/picture.png' '\(Self.demo)/eagle.jpg' --resize squash -o out",
          in: folder)
        #expect(several.contains("\nwrote 2 files to out\n"), "\(several)")
      }
    }

    /// A table is as wide as the terminal, or as wide as necessary in a pipe.
    @Test(.program("script"), arguments: [40, 72, 200])
    func tablesFit(_ columns: Int) throws {
      try withTemporaryFolder { folder in
        _ = try onTerminal("$A \(Self.convert)", in: folder)
        let text = try onTerminal("$A inspect m.mlmodel", columns: columns, in: folder)
        let longest = text.split(separator: "\n").map(\.count).max() ?? 0
        #expect(longest <= columns, "\(text)")
        #expect(text.contains("…") == (columns < 80), "\(text)")
        let joined = text.replacing(/\s+/, with: " ")
        #expect(
          joined.contains("pool_output → conv2_output: outputChannels 20, kernelChannels 12"),
          "\(text)")
        let piped = try onTerminal("$A inspect m.mlmodel | cat", columns: columns, in: folder)
        #expect(!piped.contains("…") && piped.contains("conv2__activation__  activation"))
      }
    }

    @Test(.program("script")) func progressOnANarrowTerminal() throws {
      try withTemporaryFolder { folder in
        _ = try onTerminal("$A \(Self.convert)", in: folder)
        let bench = "$A bench m.mlmodel --runs 30000"
        for redirected in ["", " >out.txt", " --json >out.txt"] {
          let text = try onTerminal(bench + redirected, columns: 40, in: folder)
          let shown = text.split(separator: "\r").filter { $0.contains(" runs, ") }
          #expect(!shown.isEmpty, "\(redirected): \(text)")
          for line in shown {
            let line = line.replacing("\u{1B}[K", with: "")
            #expect(line.count < 40 && line.contains(" left"), "\(line)")
          }
        }
        let dumb = try onTerminal(bench, columns: 40, terminal: "dumb", in: folder)
        #expect(!dumb.contains("\u{1B}") && !dumb.contains("\r"), "\(dumb)")
        #expect(dumb.contains(" left\n"), "\(dumb)")
        #expect(try !onTerminal(bench + " -q", in: folder).contains("left"))
      }
    }
  }
#endif

/// The progress line of long work, at given times.
@Suite struct ProgressTests {
  private func lines(width: Int, isDumb: Bool = false, total: Int?) -> [String] {
    var now = ContinuousClock.now
    var lines: [String] = []
    let progress = Progress(
      "assay run", width: width, isDumb: isDumb, clock: { now }, show: { lines.append($0) })
    for done in 1...20 {
      now += .seconds(2)
      progress.update(done, of: total)
    }
    progress.finish()
    return lines
  }

  @Test func rateAndTimeLeft() {
    let shown = lines(width: 80, total: 200)
    // 2 s each, with 190 left after 10.
    #expect(shown[9].hasSuffix(" 10/200, 2 s each, 6:20 left"), "\(shown[9])")
    #expect(shown[9].hasPrefix("assay run █░░░"), "\(shown[9])")
    #expect(shown.last == "")
    #expect(lines(width: 80, total: nil)[0] == "assay run 1, 2 s each")
  }

  @Test func layersAndMegabytes() {
    var now = ContinuousClock.now
    var lines: [String] = []
    let progress = Progress(
      "assay convert", width: 40, isDumb: false, clock: { now }, show: { lines.append($0) })
    now += .seconds(2)
    for _ in 0..<3 {
      progress.step(" layers")
      now += .seconds(1)
    }
    #expect(lines.last == "assay convert 3 layers, 1.33 s each" || lines.last == "", "\(lines)")
    progress.update(100, of: 500, unit: " MB")
    // 100 MB in 5 s.
    #expect(lines.last == "100/500 MB, 20 MB/s, 0:20 left", "\(lines)")
  }

  @Test func narrowAndDumb() {
    for width in [20, 30, 40, 60] {
      #expect(lines(width: width, total: 200).allSatisfy { $0.count < width }, "\(width)")
    }
    #expect(lines(width: 40, total: 200)[9] == "assay run 10/200, 2 s each, 6:20 left")
    // A new line every ten seconds, and nothing to erase.
    #expect(lines(width: 80, isDumb: true, total: 200).count == 4)
  }

  @Test func times() {
    #expect(Progress.timeText(0.2) == "0:01" && Progress.timeText(59.5) == "1:00")
    #expect(Progress.timeText(754) == "12:34" && Progress.timeText(3723) == "1:02:03")
    #expect(Progress.timeText(.infinity) == "?" && Progress.timeText(1e300) == "1000:00:00")
  }
}

@Suite struct TextTableTests {
  @Test func columnsShrinkAndCellsAreCut() {
    var table = TextTable(["name", ">n"])
    table.add(["a name of many letters", "1,234"], note: "one two three four")
    #expect(
      table.text(width: 20) == """
        name               n
        a name of ma…  1,234
            one two three
              four

        """)
    #expect(
      table.text(width: nil) == """
        name                        n
        a name of many letters  1,234
            one two three four

        """)
  }

  @Test func linesBreakAtBlanks() {
    #expect("one two three".wrapped(to: 9, indent: 2) == "one two\n  three")
    #expect("abcdefghij kl".wrapped(to: 6, indent: 2) == "abcdef\n  ghij\n  kl")
    #expect("one two".wrapped(to: nil, indent: 2) == "one two")
  }
}
