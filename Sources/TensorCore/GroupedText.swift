/// Formats 138357544 as 138,357,544.
package func groupedText(_ value: Int) -> String {
  var digits = Array(String(value.magnitude))
  var position = digits.count - 3
  while position > 0 {
    digits.insert(",", at: position)
    position -= 3
  }
  return (value < 0 ? "-" : "") + String(digits)
}

/// `1 input`, `2 inputs`, `1,000 inputs`: a number with the name of what it counts.
package func counted(_ count: Int, _ name: String) -> String {
  "\(groupedText(count)) \(name)\(count == 1 ? "" : "s")"
}
