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
      weight files. `inspect` lists the operations of each function and says which are not supported;
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
        and names that are not identifiers change. Flexible sizes and sequences of any length stay so;
        `--fixed-sizes` writes the default sizes alone.
      * States of recurrent layers stay optional inputs and outputs; `--states` makes them states of the
        program, which Core ML has since iOS 18 and keeps in half precision.
      * Weights in few bits stay so: in tables, or as integers with a scale. Those of recurrent layers are
        expanded.
      * A custom layer whose class has a formula becomes operations: a Lambda's formula, and the built-in
        classes such as `Swish`, `L2Normalization` and `InstanceNormalization`.
      * Branches and loops become blocks.

      One error lists all layers that cannot stand in a program. `upgrade` refuses, and what to do:

      | layer | why | way on |
      |---|---|---|
      | `custom` without a formula | a program has no custom layers | compute it in the app, or keep the `.mlmodel` |
      | layers with sizes from an input (`reshapeDynamic`, `fillDynamic`, `rangeDynamic`, `tile`, `topK`, …), `whereNonZero` | sizes that depend on values are not written yet; those of constants and shapes are | `edit` the size into the layer |
      | `loopBreak`, `loopContinue` | no operation jumps | a condition of the loop |
      | `branch` with results of two shapes | `cond` gives one shape | pad the smaller one |
      | recurrent layers with other functions than sigmoid, hard sigmoid, tanh, ReLU and linear, or other ones backward than forward | the operations have no others | `convert` unrolls them |
      | a loop whose condition changes blobs that the body reads | the blocks of `while_loop` share the loop's variables alone | compute them in the body |

      ## What is missing

      Changing the interface or metadata of programs: `edit` refuses them.

      ## Operations

      \(rows.count + 1) operations run: `const`, and these. An argument with a question mark may be left out.

      | operation | arguments | gives |
      |---|---|---|
      \(rows.joined(separator: "\n"))

      """
  }
}
