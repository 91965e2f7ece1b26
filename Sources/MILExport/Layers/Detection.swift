import CoreMLModel
import TensorCore

extension NonMaximumSuppression: OperationLayer {
  func operations(_ layer: LayerCall) throws -> [Variable] {
    let (boxes, scores) = (try layer.array(0), try layer.array(1))
    let shapes = layer.outputShapes
    var arguments: [(String, Argument)] = [("iou_threshold", .number(iouThreshold))]
    if layer.target < .iOS17 { arguments.append(("score_threshold", .number(scoreThreshold))) }
    arguments += [
      ("max_boxes", .int(maxBoxes)), ("per_class_suppression", .flag(perClassSuppression)),
    ]
    func best(_ boxes: Variable, _ scores: Variable, _ shapes: [[Int]]) throws -> [Variable] {
      let types = [layer.type, layer.type, .int32, .int32]
      return try layer.builder.add(
        "non_maximum_suppression", layer.name,
        [("boxes", .variable(boxes)), ("scores", .variable(scores))] + arguments, type: layer.type,
        outputs: shapes.indices.map { (types[$0], shapes[$0]) })
    }
    if layer.target < .iOS17 { return try best(boxes, scores, shapes) }

    // On newer systems, boxes are along the last axis, and there are no score threshold and box
    // count. Boxes are ordered by score: those below the threshold come last.
    let swapped = [0, 2, 1]
    let results = try best(
      layer.transpose(boxes, swapped), layer.transpose(scores, swapped),
      shapes[..<2].map { shape in swapped.map { shape[$0] } } + [shapes[2]])
    let (found, values) = (
      try layer.transpose(results[0], swapped), try layer.transpose(results[1], swapped)
    )
    let largest = try layer.reduce("reduce_max", values, [2], keepDims: false)
    let first = try layer.builder.constant(
      MILValue(flags: (0..<maxBoxes).map { $0 == 0 }, [1, maxBoxes]), name: "\(layer.name)_first")
    let isKept = try layer.combine(
      "logical_or", layer.combine("greater_equal", largest, scoreThreshold, type: .bool),
      layer.broadcast(first, to: shapes[2]))
    let isFound = try layer.combine(
      "logical_and", isKept, layer.add("greater_equal", results[2], [("y", .int(0))], type: .bool))
    func masked(_ x: Variable) throws -> Variable {
      let zeros = try layer.make(
        "fill", [("shape", .ints(x.shape)), ("value", .number(0))], shape: x.shape)
      let mask = try layer.broadcast(layer.reshape(isFound, to: shapes[2] + [1]), to: x.shape)
      return try layer.select(mask, x, zeros)
    }
    let none = try layer.builder.constant(
      MILValue(ints: [Int](repeating: -1, count: shapes[2].reduce(1, *)), shapes[2]),
      name: "\(layer.name)_none")
    let count = try layer.reduce(
      "reduce_sum", layer.builder.cast(isFound, to: .int32), [1], keepDims: false)
    return [
      try masked(found), try masked(values), try layer.select(isFound, results[2], none), count,
    ]
  }
}

extension CropResize: OneResultLayer {
  func operation(_ layer: LayerCall) throws -> Variable {
    let x = try layer.planes()
    let roi = try layer.five(1)
    let output = try layer.fiveOutput()
    let (count, width) = (roi[0], roi[2] * roi[3] * roi[4])
    var arguments: [(String, Argument)] = [
      ("target_height", .int(output[3])), ("target_width", .int(output[4])),
      ("normalized_coordinates", .flag(normalizedCoordinates)),
      ("spatial_scale", .number(effectiveSpatialScale)),
      ("box_coordinate_mode", .text(effectiveBoxMode.operationName)),
      ("sampling_mode", .text(effectiveMode.operationName)),
    ]
    if layer.target < .iOS17 {
      let boxes = try layer.reshape(layer.number(1), to: [count, 1, width, 1, 1])
      return try layer.add("crop_resize", x, [("roi", .variable(boxes))] + arguments, shape: output)
    }
    // On newer systems, the image indices are separate from the boxes.
    var boxes = try layer.reshape(layer.number(1), to: [count, width])
    let images: Variable
    let total = count * output[1]
    if width == 5 {
      let parts = try layer.split(boxes, 1, [1, 4])
      boxes = parts[1]
      images = try layer.builder.cast(layer.reshape(parts[0], to: [count]), to: .int32)
    } else {
      boxes = try layer.reshape(
        layer.broadcast(layer.reshape(boxes, to: [count, 1, 4]), to: [count, output[1], 4]),
        to: [total, 4])
      images = try layer.builder.constant(
        MILValue(ints: (0..<total).map { $0 % output[1] }, [total]), name: "\(layer.name)_images")
    }
    arguments += [("boxes", .variable(boxes)), ("box_indices", .variable(images))]
    let crops = try layer.add("crop_resize", x, arguments, shape: [total] + output[2...])
    return try layer.reshape(crops, to: output)
  }
}
