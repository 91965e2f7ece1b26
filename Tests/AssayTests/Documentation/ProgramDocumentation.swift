import Programs

/// The page `docs/programs.md`, generated from the list of operations.
enum ProgramDocumentation {
  static var markdown: String {
    let rows = operationRules.sorted { $0.name < $1.name }.map { rule in
      let arguments = rule.arguments.map { rule.required.contains($0) ? $0 : "\($0)?" }
      return "| `\(rule.name)` | `\(arguments.joined(separator: ", "))` | "
        + "\(rule.summary.replacing("|", with: "\\|")) |"
    }
    return """
      # ML Programs

      `make docs` generates this page. Since 2021 coremltools writes ML Programs: an `.mlpackage` with typed
      operations, and their weights in a file beside them. Assay reads, shows, runs and compares them on every
      system.

      ```console
      $ assay diff Fixtures/programs/binary.mlpackage Fixtures/programs/binary.inputs.npz --expected Fixtures/programs/binary.expected.npz
      …
      $ assay inspect Fixtures/programs/binary.mlpackage
      …
      Function main
      …
      $ assay inspect Fixtures/programs/binary.mlpackage --spec
      …
      main[CoreML5](x: fp32[2, 1, 5], y: fp32[3, 1]) {
      …
      ```

      `run`, `diff`, `bench` and `inspect` take a package, a zip of one, or an `.mlmodel` with a program that has no
      weight files. `inspect` lists the operations of each function and says which are not supported yet;
      `inspect --spec` prints the operations as text.

      ## How a program runs

      * A program becomes a neural network for the shapes of the inputs at hand, so everything that `inspect --plan`,
        `bench --steps` and `diff --layers` say of networks holds for it. Blobs have the names of the program's
        values.
      * Everything is computed in single precision. Weights in half precision are used as stored. A device that
        computes in half precision gives numbers that differ by its rounding.
      * Integers are computed in single precision, too: they are exact up to 2²⁴.
      * Types and shapes of every result are derived and compared with those that the program states.
      * Sizes and places (`shape`, `begin`, `axes`, …) may be computed from the shapes of the inputs, not from their
        values. A value that changes its shape in a loop is refused.
      * A state starts with zeros in each prediction.
      * The function is the one whose interface the model has: `main`, or the default of several.
      * `constexpr_…` operations expand compressed weights when the program becomes a network.

      ## What is checked

      Offsets, sizes, types and unused bits of every value in a weight file, before any is read; paths, which must
      stay in the package; names, which must be defined once and before their use; the depth of blocks. Weight files
      are mapped, not copied. [Hostile files](security.md) says what holds for every input.

      ## What is missing

      Writing and changing programs (`edit` and `compress` refuse them), choosing a function, rounding to half
      precision, states that last, and the operations that are not in this list.

      ## Operations

      \(rows.count + 1) operations run: `const`, and these. An argument with a question mark may be left out.

      | operation | arguments | gives |
      |---|---|---|
      \(rows.joined(separator: "\n"))

      """
  }
}
