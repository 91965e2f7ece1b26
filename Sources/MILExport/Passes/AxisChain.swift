import CoreMLModel
import TensorCore

/// The combined effect of reordering, splitting, merging, adding and removing an array's axes.
struct AxisChain {
  enum Step: Equatable {
    case reshape([Int])
    case transpose([Int])
  }

  private let start: [Int]
  private(set) var shape: [Int]
  /// The parts into which axes were split: their sizes, and their order at the start and now.
  private var sizes: [Int] = []
  private var first: [[Int]]
  private var now: [[Int]]

  init(_ shape: [Int]) {
    (start, self.shape) = (shape, shape)
    first = []
    for size in shape {
      if size == 1 {
        first.append([])
      } else {
        first.append([sizes.count])
        sizes.append(size)
      }
    }
    now = first
  }

  mutating func transpose(_ axes: [Int]) {
    (now, shape) = (axes.map { now[$0] }, axes.map { shape[$0] })
  }

  /// Returns false if the axes cannot be split this way.
  mutating func reshape(_ new: [Int]) -> Bool {
    var rest = Array(now.joined())[...]
    var axes: [[Int]] = []
    for size in new {
      var (axis, missing): ([Int], Int) = ([], size)
      while missing > 1 {
        guard let part = rest.first, sizes[part] > 0, missing > 0 else { return false }
        if missing % sizes[part] == 0 {
          axis.append(part)
          missing /= sizes[part]
          rest.removeFirst()
          continue
        }
        guard sizes[part] % missing == 0 else { return false }
        let inner = sizes.count
        sizes.append(sizes[part] / missing)
        sizes[part] = missing
        func split(_ axes: [[Int]]) -> [[Int]] {
          axes.map { $0.flatMap { $0 == part ? [part, inner] : [$0] } }
        }
        (first, axes) = (split(first), split(axes))
        rest = [part, inner] + rest.dropFirst()
      }
      axes.append(axis)
    }
    guard rest.isEmpty else { return false }
    (now, shape) = (axes, new)
    return true
  }

  /// The fewest operations with the same effect.
  var steps: [Step] {
    let (old, new) = (Array(first.joined()), Array(now.joined()))
    if old == new { return start == shape ? [] : [.reshape(shape)] }
    let last = now.indices.filter { !now[$0].isEmpty }
    let axes = first.indices.filter { !first[$0].isEmpty }
    /// The order of `parts` in a list, if each part is contiguous there; nil otherwise.
    func order(_ parts: [[Int]], in list: [Int]) -> [Int]? {
      let indices = parts.map { list.firstIndex(of: $0[0]) ?? 0 }
      let isTogether = zip(parts, indices).allSatisfy { list[$1...].starts(with: $0) }
      return isTogether ? parts.indices.sorted { indices[$0] < indices[$1] } : nil
    }
    if let order = order(axes.map { first[$0] }, in: new) {
      // Only whole axes move; axes of length 1 take the positions that they have in the result.
      var moved = order.map { axes[$0] }[...]
      var units = first.indices.filter { first[$0].isEmpty }[...]
      var permutation: [Int] = []
      for axis in now.indices {
        if now[axis].isEmpty {
          if let unit = units.popFirst() { permutation.append(unit) }
        } else if let next = moved.popFirst() {
          permutation.append(next)
        }
      }
      permutation += moved + units
      let result = permutation.map { start[$0] }
      return [.transpose(permutation)] + (result == shape ? [] : [.reshape(shape)])
    }
    if let order = order(last.map { now[$0] }, in: old) {
      // Reshapes to the axes of the result first, then reorders them.
      let units = now.indices.filter { now[$0].isEmpty }
      let before = order.map { last[$0] } + units
      let permutation = now.indices.map { before.firstIndex(of: $0) ?? 0 }
      return [.reshape(before.map { shape[$0] }), .transpose(permutation)]
    }
    // Parts that stay together form one axis in between.
    var runs: [[Int]] = []
    for part in new {
      if let end = runs.last?.last, let index = old.firstIndex(of: end), index + 1 < old.count,
        old[index + 1] == part
      {
        runs[runs.count - 1].append(part)
      } else {
        runs.append([part])
      }
    }
    let before = order(runs, in: old) ?? Array(runs.indices)
    func size(_ run: [Int]) -> Int { run.reduce(1) { $0 * sizes[$1] } }
    return [
      .reshape(before.map { size(runs[$0]) }),
      .transpose(runs.indices.map { before.firstIndex(of: $0) ?? 0 }), .reshape(shape),
    ]
  }
}

extension AxisChain {
  /// Writes the operations.
  func write(_ x: Variable, _ label: String, _ builder: ProgramBuilder) throws -> Variable {
    var result = x
    for step in steps {
      switch step {
      case .reshape(let shape): result = try builder.reshaped(result, to: shape)
      case .transpose(let axes):
        result = try builder.add(
          "transpose", label, [("x", .variable(result)), ("perm", .ints(axes))], type: x.type,
          shape: axes.map { result.shape[$0] })
      }
    }
    return steps.isEmpty ? try builder.copy(x, label) : result
  }
}

extension OperationGraph {
  /// Whether the operation only reorders, adds or removes axes.
  func movesAxes(_ name: String) -> Bool {
    guard let type = operations[name]?.type else { return false }
    return ["transpose", "reshape", "squeeze", "expand_dims"].contains(type)
  }

  /// Adds the effect of an operation that moves axes. Returns false if it cannot be expressed.
  func follow(_ name: String, _ chain: inout AxisChain) -> Bool {
    guard let operation = operations[name], let shape = shape(name) else { return false }
    guard operation.type == "transpose" else { return chain.reshape(shape) }
    guard let axes = axes(operation, "perm"), axes.sorted() == Array(chain.shape.indices) else {
      return false
    }
    chain.transpose(axes)
    return true
  }

  /// An operation that moves axes and those before it, the last of them first.
  func moves(before name: String) -> [String] {
    var path = [name]
    while let input = operations[path[path.count - 1]]?.name("x"), movesAxes(input),
      path.count < 16
    {
      path.append(input)
    }
    return path
  }

  /// Shortens sequences of operations that move axes. Returns whether any became shorter.
  func joinMoves() throws -> Bool {
    var isChanged = false
    for name in names where movesAxes(name) {
      let path = moves(before: name)
      for count in (1...path.count).reversed() {
        guard let input = operations[path[count - 1]]?.name("x"), let shape = shape(input) else {
          continue
        }
        var chain = AxisChain(shape)
        guard path[..<count].reversed().allSatisfy({ follow($0, &chain) }) else { continue }
        let alone = path[1..<count].enumerated().prefix { isOnly(path[$0], of: $1) }.count
        let steps = chain.steps
        let isShorter = steps.count <= alone || steps.count == 1 && count > 1
        let isSimpler = count == 1 && steps.count == 1 && operations[name]?.type == "transpose"
        if case .reshape? = steps.first, isSimpler {} else if !isShorter { continue }
        if steps.isEmpty {
          try substitute(name, input)
        } else {
          let x = try variable(input)
          try replace(name) { try chain.write(x, name, builder) }
        }
        isChanged = true
        break
      }
    }
    return isChanged
  }
}
