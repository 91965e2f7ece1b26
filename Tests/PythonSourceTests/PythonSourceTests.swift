import TensorCore
import Testing

@testable import PythonSource

@Suite struct PythonSourceTests {
  private func statements(_ text: String) throws -> [PythonStatement] {
    try PythonModule(parsing: Array(text.utf8)).statements
  }

  @Test(arguments: [
    "class A(tf.keras.layers.Layer, metaclass=M):\n    '''Text.'''\n\n    x: int = 3\n"
      + "    @property\n    def a(self): return self._a\n",
    "@register(package='P')\nclass A: pass\n",
    "def f(a, b=1, /, *args, c, d: int = 2, **more) -> Tensor:\n  return a, *args\n",
    "x = [i ** 2 for i, (j, *k) in enumerate(y) if i if j]; z = {a: b for a, b in c}\n",
    "f(*a, b, k=1, **m)\n",
    "y = x[..., :-1, ::2, None, 1:2:3][0]\n", "a = b = c, = d\n", "x: int\n", "x @= y\n",
    "if a: b\nelif not c and d or e in f and g not in h and i is not j: k\nelse:\n  l\n",
    "for a, b in c:\n  break\nelse: pass\nwhile 1 < x <= 2: continue\n",
    "with a as b, c as (d, e): pass\nwith (a as b, c): pass\nwith (a): pass\n",
    "try:\n  a\nexcept (A, B) as e:\n  raise X from e\nexcept C, e: pass\nelse: b\nfinally: c\n",
    "x = f\"{a:.2f} {b!r} {{}} {d[\"k\"]} {e != 1}\" 'more'\n",
    "x = lambda *a, b=1: (yield_, -a ** -b if c else d)\n", "x = (\n  1 +\n  2\n)\n",
    "if (n := len(a)) > 10: pass\n", "from . import a\nfrom ..b.c import (d as e, f,)\n",
    "print 'a', b % c\nprint >>f, x\nprint\n", "x = 0xFF + 1_000 + 1e-3 + .5 + 5. + 10L + 0o17\n",
    "def f():\n\tif a:\n\t\treturn\n\tyield b\n", "async def f():\n  async with a: await_ = 1\n",
    "\u{FEFF}# é\nx = 'é'\r\n", "x = 1 if a else 2,\n", "del x[0]; global y; pass\n",
    "class A:\n  def f(self):\n    # comment\n\n    nonlocal b\n", "assert a, 'b'\n",
    "x = a \\\n  + b",
  ]) func isRead(_ text: String) throws { _ = try statements(text) }

  @Test func operatorsBindAsInPython() throws {
    // According to the grammar, ** binds more tightly than a sign before it.
    guard case .assign(_, let value)? = try statements("x = -a ** b * c + d\n").first?.kind,
      case .binary("+", let product, _) = value.kind, case .binary("*", let left, _) = product.kind,
      case .unary("-", let power) = left.kind, case .binary("**", _, _) = power.kind
    else {
      Issue.record("another tree")
      return
    }
  }

  @Test func stringsAreUnescaped() throws {
    let text = #"x = 'a\n\x41\u00e9\101' r'\n' 'b'"#
    guard case .assign(_, let value)? = try statements(text).first?.kind,
      case .string(let string) = value.kind
    else {
      Issue.record("no string")
      return
    }
    #expect(string == "a\nA\u{e9}A\\nb")
  }

  @Test(arguments: [
    ("x = (1,\n", "line 2, column 1"), ("def f(:\n  pass\n", "line 1, column 7"),
    ("if a:\nb\n", "line 2, column 1"), ("a = 'b\n", "line 1, column 5"),
    ("  a\n b\n", "line 2, column 2"), ("a\n\n\nx = 1 $ 2\n", "line 4, column 7"),
    ("match x:\n  case 1: pass\n", "line 1, column 1"), ("x = f'{a'\n", "line 1"),
    ("naïve = 1\n", "line 1, column 3"), ("x = \u{2028}1\n", "line 1, column 5"),
    ("x = 1__k\n", "line 1, column 5"), ("`a`\n", "line 1, column 1"),
  ]) func errorsHavePlaces(_ text: String, _ place: String) throws {
    let error = try #require(throws: ModelError.self) { try statements(text) }
    #expect(error.message.contains(place), "\(error)")
  }

  @Test(arguments: [
    String(repeating: "(", count: 100_000), String(repeating: "-", count: 100_000) + "1",
    "x = " + String(repeating: "a.", count: 100_000) + "a\n",
    "x = " + String(repeating: "1+", count: 100_000) + "1\n",
    "x = " + String(repeating: "f(", count: 500) + String(repeating: ")", count: 500),
    "x = " + String(repeating: "f'{", count: 500) + String(repeating: "}'", count: 500),
    (0..<200).map { String(repeating: " ", count: $0) + "if a:\n" }.joined(),
    String(repeating: "lambda: ", count: 100_000), String(repeating: "not ", count: 100_000),
    String(repeating: "a if b else ", count: 100_000), String(repeating: "x = [\n", count: 100_000),
    String(repeating: "1, ", count: 200_000), String(repeating: "\n", count: 3 << 20),
  ]) func hostileTextIsRefusedAtOnce(_ text: String) {
    let clock = ContinuousClock()
    let time = clock.measure { #expect(throws: ModelError.self) { try statements(text) } }
    #expect(time < .seconds(2))
  }
}
