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
      $ assay inspect Fixtures/programs/functions.mlpackage --function triple
      …
      Function triple
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
        computes in half precision gives numbers that differ by its rounding: `--compute-precision float16` of
        `run`, `diff` and `bench` rounds weights, inputs and the results of all layers to half precision, in
        programs and networks alike. Sums inside a layer, and the steps of recurrent layers, are in single
        precision, and weights in few bits are not rounded. `diff --layers` shows what each layer loses.
      * Integers are computed in single precision, too: they are exact up to 2²⁴.
      * Types and shapes of every result are derived and compared with those that the program states.
      * Sizes and places (`shape`, `begin`, `axes`, …) may be computed from the shapes of the inputs and from their
        values. In the latter case the program becomes a network for each prediction, which takes longer.
      * A loop in which a value changes its shape, or a list becomes longer, becomes its steps one after the other,
        at most 1000 of all loops; their number must follow from the inputs.
      * `validate_indices` refuses indices out of range outside of loops, which takes a network for each prediction.
      * A state starts with zeros in each prediction; with `run --carry-states` it has the value that the input
        before left. The [C library](c-library.md) and the [Python package](python.md) have states, too.
      * The function is the one whose interface the model has: `main`, or the default of several. `--function NAME`
        of `run`, `diff`, `bench` and `inspect` chooses another.
      * A list is an array with one more axis. It grows where the place of a new element is known before the
        prediction.
      * Of non-maximum suppression, the best box is always kept, and places without a box are −1. `resize` to the
        nearest element takes the lower one of two that are equally near. What coremltools' tests say that Core ML
        computes is among the tests of Assay.
      * `constexpr_…` operations expand compressed weights when the program becomes a network.

      ## What is checked

      Offsets, sizes, types and unused bits of every value in a weight file, before any is read; paths, which must
      stay in the package; names, which must be defined once and before their use; the depth of blocks. Weight files
      are mapped, not copied. [Hostile files](security.md) says what holds for every input.

      ## Writing a program

      `convert -o model.mlpackage` and `upgrade old.mlmodel -o new.mlpackage` write a network as a program:

      * `--target iOS15` … `iOS18` chooses the specification and the operations; by default the oldest that
        can hold the weights. `--precision float16` computes in half precision, but for layers whose weights
        exceed it and those that `--keep-float32` names.
      * Inputs, outputs, classes, metadata and preprocessing stay. Arrays of doubles become arrays of floats,
        and names that are not identifiers change. A sequence has the length that the source states; one of any
        length is refused.
      * Weights in few bits stay so: in tables, or as integers with a scale. Those of recurrent layers are
        expanded.
      * Custom layers, branches, loops, flexible shapes (the default one is written), three-dimensional
        convolutions and pooling, scattering, random numbers, `nonMaximumSuppression`, `cropResize`, parts of
        sequences in reverse, triangles and sliding windows, sizes that depend on values, coupled gates of an LSTM and functions that the operations of recurrence lack have no
        operations yet: one error lists all such layers.

      ## What is missing

      Changing programs: `edit` and `compress` refuse them.

      ## Operations

      \(rows.count + 1) operations run: `const`, and these. An argument with a question mark may be left out.

      | operation | arguments | gives |
      |---|---|---|
      \(rows.joined(separator: "\n"))

      """
  }
}
