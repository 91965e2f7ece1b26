/// A value of a result, as JSON and as a table cell.
protocol ResultValue {
  var json: JSONText { get }
  var cell: String { get }
}

extension JSONText: ResultValue {
  var json: JSONText { self }
  var cell: String { text }
}

extension Bool: ResultValue {
  var json: JSONText { .bool(self) }
  var cell: String { self ? "yes" : "no" }
}

extension Int: ResultValue {
  var json: JSONText { .int(self) }
  var cell: String { groupedText(self) }
}

extension Double: ResultValue {
  var json: JSONText { .number(self) }
  var cell: String { numberText(self, digits: 6) }

  func json(digits: Int) -> JSONText { .number(self, digits: digits) }
  func json(decimals: Int) -> JSONText { .fixed(self, decimals: decimals) }
}

extension Float: ResultValue {
  var json: JSONText { .number(Double(self), digits: 9) }
  var cell: String { numberText(Double(self), digits: 6) }
}

extension String: ResultValue {
  var json: JSONText { .string(self) }
  var cell: String { self }
}

/// A nil value is `null`.
extension Optional: ResultValue where Wrapped: ResultValue {
  var json: JSONText { self?.json ?? .null }
  var cell: String { self?.cell ?? "" }
  /// The value, or no member at all if it is nil.
  var ifPresent: JSONText { self?.json ?? .absent }
}

extension Array: ResultValue where Element: ResultValue {
  var json: JSONText { .array(map(\.json)) }
  var cell: String { map(\.cell).joined(separator: ", ") }
}

extension Sequence {
  func json(_ text: (Element) -> JSONText) -> JSONText { .array(map(text)) }
}

/// A column of a table of results, a member of their JSON objects, or both.
struct Column<Row> {
  fileprivate let title: String?
  fileprivate let key: String?
  fileprivate let value: (Row) -> any ResultValue
  fileprivate var cell: (Row) -> String

  /// - Parameters:
  ///   - title: the column's title; nil for JSON only. Numbers are aligned right, as after `>`.
  ///   - key: the member's key; nil for text only.
  ///   - cell: the text of a value; nil for its default text.
  init<Value: ResultValue>(
    _ title: String?, _ key: String?, _ cell: ((Value) -> String)? = nil,
    _ value: @escaping (Row) -> Value
  ) {
    let isNumber = Value.self == Int.self || Value.self == Double.self
    self.title = isNumber ? title.map { ">" + $0 } : title
    (self.key, self.value) = (key, value)
    self.cell = { cell?(value($0)) ?? value($0).cell }
  }

  /// A column of numbers with `digits` significant digits in the text.
  init(_ title: String?, _ key: String?, digits: Int, _ value: @escaping (Row) -> Double) {
    self.init(title, key, { numberText($0, digits: digits) }, value)
  }

  /// A column whose text depends on more than its value.
  init<Value: ResultValue>(
    _ title: String, _ key: String, _ value: @escaping (Row) -> Value,
    cell: @escaping (Row) -> String
  ) {
    self.init(title, key, nil, value)
    self.cell = cell
  }
}

extension Array {
  func table<Row>(_ rows: some Sequence<Row>, indent: Int = 0) -> String
  where Element == Column<Row> {
    let shown = filter { $0.title != nil }
    return TextTable(
      shown.compactMap(\.title), indent: indent,
      rows: rows.map { row in shown.map { $0.cell(row) } }
    ).text
  }

  func json<Row>(_ rows: some Sequence<Row>) -> JSONText where Element == Column<Row> {
    rows.json(object)
  }

  func object<Row>(_ row: Row) -> JSONText where Element == Column<Row> {
    .members(compactMap { column in column.key.map { ($0, column.value(row).json) } })
  }
}
