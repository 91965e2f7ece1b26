import ByteFormats
import Imaging
import TensorCore
import TestSupport
import Testing

/// `eval` on networks with known outputs.
@Suite struct EvalCommandTests {
  @Test func accuracyAndConfusion() throws {
    try withTemporaryFolder { folder in
      let net = try ColorClassifier(in: folder)
      let (sheet, matrix) = (folder + "/sheet.png", folder + "/matrix.csv")
      let arguments = ["eval", net.model, net.images, "--truth", "folders", "--top", "2"]
      let eval = try Command.run(arguments + ["--json", "-o", sheet, "--confusion", matrix])
      #expect(eval.code == 0, "\(eval.errors)")
      let result = try JSONValue(parsing: eval.output)
      #expect(result["inputs"]?.int == 6 && result["top1"]?.double == 5.0 / 6)
      // In (204, 0, 102) blue is second.
      #expect(result["topN"]?.double == 1)
      #expect(result["confusion"]?.text == "[[2, 0, 0], [0, 2, 0], [1, 0, 1]]")
      let classes = try #require(result["classes"]?.array)
      #expect(classes[2]["recall"]?.double == 0.5 && classes[0]["precision"]?.double == 2.0 / 3)
      let mistake = try #require(result["mistakes"]?.array?.first)
      #expect(mistake["predicted"]?.string == "red" && mistake["expected"]?.string == "blue")
      let rows = try TextTableFile.parse(try fileBytes(matrix))
      #expect(rows.count == 4 && rows[3] == ["blue", "1", "0", "1"])
      // There is one tile, with the image's color in its center.
      let image = try Image.read(sheet)
      let place = 3 * (150 * image.width + 150)
      #expect(Array(image.samples.array(of: UInt8.self)[place..<place + 3]) == [204, 0, 102])
      let text = try Command.run(arguments)
      #expect(
        text.output.contains("blue → red  1") && text.output.contains("83.33%"), "\(text.output)")
    }
  }

  /// Without labels, classes are named by their indices, or by the folders in ascending order.
  @Test func aModelWithoutLabels() throws {
    try withTemporaryFolder { folder in
      let net = try ColorClassifier(in: folder)
      let bare = folder + "/bare.mlmodel"
      let converted = try Command.run(
        "convert", folder + "/color.cfg", "-o", bare, "--image-input", "data")
      #expect(converted.code == 0, "\(converted.errors)")
      let table = folder + "/truth.csv"
      try writeFile(Array("image,class\nred/0.png,0\nred/1.png,0\n".utf8), to: table)
      let byNumber = try Command.run("eval", bare, net.images + "/red", "--truth", table)
      #expect(
        byNumber.code == 0 && byNumber.output.contains("100.00%  (2 of 2)"), "\(byNumber.errors)")
      // Classes in the order of Keras's generators: blue, green, red. Red and blue are confused.
      let byFolder = try Command.run("eval", bare, net.images, "--truth", "folders")
      #expect(byFolder.output.contains("50.00%  (3 of 6)"), "\(byFolder.output)\(byFolder.errors)")
    }
  }

  @Test func unknownClassesAndFiles() throws {
    try withTemporaryFolder { folder in
      let net = try ColorClassifier(in: folder)
      let table = folder + "/truth.csv"
      try writeFile(Array("file,label\nred/0.png,redd\nred/1.png,red\n".utf8), to: table)
      let eval = try Command.run("eval", net.model, net.images + "/red", "--truth", table)
      #expect(eval.code == 2 && eval.output.contains("(1 of 1)"), "\(eval.output)")
      #expect(eval.errors.contains("no class 'redd'") && eval.errors.contains("'red'?"))
      let missing = try Command.run("eval", net.model, net.images, "--truth", folder + "/none.csv")
      #expect(missing.code == 66)
      for truth in ["", "\"open", "file\nx\n"] {
        try writeFile(Array(truth.utf8), to: table)
        let broken = try Command.run("eval", net.model, net.images, "--truth", table)
        #expect(broken.code == 2 && broken.errors.contains("truth.csv"), "\(broken.errors)")
      }
    }
  }
}
