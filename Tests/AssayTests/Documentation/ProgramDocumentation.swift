import MILImport

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

      `make docs` generates this page. Since 2021, coremltools has written ML Programs: an `.mlpackage` with
      typed operations, and a separate file with their weights. Assay reads, shows, runs, compares, compresses
      and writes them on every system.

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

      `run`, `diff`, `bench` and `inspect` accept a package, a zipped package, or an `.mlmodel` with a program
      without weight files. `inspect` lists the operations of each function and marks those that are not
      supported; `inspect --spec` prints the operations as text.

      ## How a program runs

      * A program becomes a neural network for the shapes of the current inputs, so `inspect --plan`,
        `bench --steps` and `diff --layers` work as for networks. Blobs have the names of the program's values.
      * Everything is computed in single precision. Half-precision weights are used as stored. A device that
        computes in half precision gives values that differ by its rounding: `--arithmetic float16` of `run`,
        `diff`, `eval` and `bench` rounds weights, inputs and the results of all layers to half precision
        ([half precision](predictions-differ.md#8-half-precision-before-it-ships)). In a program with values of
        both types, those in single precision remain so. `Tests/Tools/half_programs.py` compares its errors with
        PyTorch's in half precision: at most twice as large, or one rounding.
      * Integers are also computed in single precision: they are exact up to 2²⁴, and a warning names outputs beyond it.
      * The types and shapes of all results are derived and compared with those that the program declares.
      * Sizes and positions (`shape`, `begin`, `axes`, …) may depend on the shapes of the inputs or on their
        values. If they depend on values, every prediction converts the program to a network again, which takes
        longer.
      * A loop in which the shape of a variable changes, or a list grows, is unrolled: at most 1000 steps in all
        loops together, and the number of steps must follow from the inputs.
      * `validate_indices` refuses indices out of range outside of loops; every prediction then converts the
        program to a network again.
      * A state starts as zeros in each prediction, and branches and loops may change it; with
        `run --carry-states`, it keeps its value from the previous input. The [C library](c-library.md) and the
        [Python package](python.md) support states, too.
      * The default function is the one that the model's interface describes: `main`, or the default of several
        functions. `--function NAME` of `run`, `diff`, `bench` and `inspect` selects another.
      * A list is an array with one more axis. It grows if the position of a new element is known before the
        prediction.
      * In non-maximum suppression, the best box is always kept, and unused rows are −1. When `resize` uses the
        nearest element and two are equally near, it takes the lower one. Assay's tests include what the tests of
        coremltools say about Core ML's results.
      * Compressed weights of `constexpr_…` operations stay compressed if the codes of a network have exactly their
        values ([compression](compression.md)); others are expanded when the program becomes a network.

      ## What is checked

      The offset, size, type and unused bits of every value in a weight file are checked before any value is
      read. Paths must stay inside the package. Names must be defined exactly once, before their use. The depth of
      blocks is limited. Weight files are mapped, not copied. [Hostile files](security.md) describes the checks
      for every input.

      ## Writing a program

      `convert -o model.mlpackage` writes a network as a program, that of a source or of an `.mlmodel`:

      * `--target iOS15` … `iOS18` selects the specification and the operations; the default is the oldest that
        supports the weights. `--precision float16` computes in half precision, except in layers whose weights
        exceed its range and in those named by `--keep-float32`. With `--inputs INPUT`, layers with larger inputs
        or outputs for this input also compute in single precision, and a note names them.
      * The arrays of a program from a source have the source's axes, in its order and with a batch of one item,
        and `int32` where an input of Keras has integers. Those of a program from an `.mlmodel` have the
        document's axes.
      * Inputs, outputs, classes, metadata and preprocessing are kept. Arrays of doubles become arrays of floats,
        and names that are not identifiers change. Flexible sizes and sequences of any length remain flexible, in
        attention, too; `--fixed-sizes` writes only the default sizes.
      * States of recurrent layers remain optional inputs and outputs. `--states` makes them states of the
        program, which Core ML has supported since iOS 18 and keeps in half precision.
      * Compressed weights remain compressed: as tables, or as integers with a scale; those of recurrent layers
        have a table or scale for each gate. Half-precision matrices remain so from iOS 16 on; with
        `--target iOS15`, they are stored in single precision.
      * A custom layer whose class has a formula becomes operations: a Lambda's formula, and built-in classes
        such as `Swish`, `L2Normalization` and `InstanceNormalization`.
      * Operations that spell out another one become it, in networks of any source: `relu6`, `clip`, `silu`,
        `gelu` (exact and approximate), `sigmoid_hard`, `layer_norm`, `instance_norm`. Functions of one element are
        recognized by their values, whatever their spelling. Normalizations, scales and biases are folded into
        neighboring weights, and operations that only move axes are joined or removed where they cancel.
      * Branches and loops become blocks.

      `--inputs INPUT` runs the network and the program on the input, or on the files of a folder, and
      writes the program if both give the same predictions; with `--expected FILE`, it compares the program
      with the source framework's predictions. `assay diff old.mlmodel new.mlpackage` compares the two on random inputs.

      `Tests/Tools/program_operations.py` compares the programs from Keras networks with coremltools' 9.0, for
      iOS 17 in single precision: the operations without constants, the sizes of what they compute in KiB, and our
      largest error, relative to Keras's largest output. The networks are those of TensorFlow 2.15, because
      coremltools lacks operations of later versions; for ConvNeXt, Keras's grouped convolutions had to be
      called without the compiled function around them.

      | network | operations | coremltools | KiB | coremltools | largest | coremltools | error |
      |---|---:|---:|---:|---:|---:|---:|---:|
      | MobileNetV2 | 106 | 106 | 59141 | 59381 | 4788 | 4788 | 4.8e-07 |
      | EfficientNet-B0 | 200 | 295 | 71567 | 103765 | 4788 | 4788 | 2.9e-06 |
      | ConvNeXt-Tiny | 122 | 262 | 106592 | 225855 | 4704 | 4704 | 9.9e-07 |
      | ResNet-50 | 126 | 126 | 103657 | 104041 | 3249 | 3249 | 2.9e-07 |
      | encoder, 2 blocks, 32 tokens, 64 channels | 51 | 103 | 520 | 875 | 32 | 32 | 1.5e-07 |
      | small ViT, 2 blocks | 59 | 114 | 277 | 470 | 16 | 16 | 4.3e-07 |
      | decoder with causal mask | 61 | 116 | 914 | 1221 | 125 | 125 | 5.4e-07 |
      | two Swin blocks | 76 | 140 | 717 | 1210 | 32 | 32 | 1.6e-07 |
      | U-Net | 30 | 30 | 5184 | 5184 | 768 | 768 | 3.2e-07 |
      | text CNN | 17 | 20 | 47 | 50 | 8 | 8 | 1.3e-07 |
      | BiLSTM | 15 | 109 | 20 | 86 | 8 | 8 | 7.4e-08 |
      | GRU with attention | 31 | 36 | 56 | 55 | 8 | 8 | 7.4e-08 |

      The steps of Keras's GRU are a loop; coremltools' sizes do not include the list in which its loop keeps the
      results. For iOS 18, which has an operation for this GRU, the last program has 11 operations.

      One error lists all layers that ML Programs cannot express:

      | layer | reason | alternative |
      |---|---|---|
      | `custom` without a formula | ML Programs have no custom layers | compute it in the app, or keep the `.mlmodel` |
      | layers with sizes from an input (`reshapeDynamic`, `fillDynamic`, `rangeDynamic`, `tile`, `topK`, …), `whereNonZero` | sizes that depend on values are not supported; those from constants and shapes are | set the size in the layer with `edit` |
      | `loopBreak`, `loopContinue` | no operation leaves a loop | a condition of the loop |
      | `branch` with results of two shapes | `cond` has one result shape | pad the smaller one |
      | recurrent layers with functions other than sigmoid, hard sigmoid, tanh, ReLU and linear, or with different functions for the two directions | the operations support only these | `convert` unrolls them |
      | a loop whose condition changes blobs that the body reads | the blocks of `while_loop` share only the loop's variables | compute them in the body |

      ## Changing a program

      `edit` changes names, metadata, outputs, types of arrays and functions, and runs the program before and
      after:

      ```console
      $ assay edit Fixtures/programs/binary.mlpackage -o edited.mlpackage --rename x=first --array-type float32 --metadata author=A
      …
      $ assay edit Fixtures/programs/functions.mlpackage -o triple.mlpackage --function triple
      …
      $ assay inspect triple.mlpackage
      …
      Function main
      …
      ```

      * `--rename OLD=NEW` accepts only identifiers. `--add-output NAME` makes any value of the function an output;
        `--remove-output` keeps the operations that compute it.
      * `--array-type` adds a conversion; arrays of half precision need a program for iOS 16 or later.
      * `--function NAME` keeps one function, as `main`; `--default-function` and `--rename-function`
        change models with several functions. Weights that no function uses are removed. Other
        options edit the interface of the default function.
      * Preprocessing, shapes and classes follow from the operations: change them in the network before
        `convert`.

      ## Operations

      \(rows.count + 1) operations are supported: `const`, and these. An argument with a question mark is optional.

      | operation | arguments | result |
      |---|---|---|
      \(rows.joined(separator: "\n"))

      """
  }
}
