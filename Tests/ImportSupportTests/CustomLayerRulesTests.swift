import ByteFormats
import CoreMLModel
import ImportSupport
import TensorCore
import Testing

struct CustomLayerRulesTests {
  private func rules(_ text: String) throws -> CustomLayerRules {
    try CustomLayerRules(JSONValue(parsing: text), folder: ".")
  }

  @Test func theFirstMatchWins() throws {
    let rules = try rules(
      #"""
      [{"class": "Lambda", "function": "swish", "className": "Swish"},
       {"name": "res_*_0", "className": "First"}, {"name": "res_*", "className": "Other"},
       {"activation": "mish", "className": "Mish"}]
      """#)
    func name(_ layer: String, _ kind: String, function: String? = nil, activation: String? = nil)
      -> String?
    {
      rules.rule(
        for: CustomLayerSubject(
          layer: layer, layerClass: kind, function: function, activation: activation))?.className
    }
    #expect(name("lambda_1", "Lambda", function: "swish") == "Swish")
    #expect(name("lambda_1", "Lambda", function: "swash") == nil)
    #expect(name("res_crop_0", "Lambda", function: "res_crop") == "First")
    #expect(name("res_crop_1", "Lambda") == "Other")
    #expect(name("dense_1__activation__", "Activation", activation: "mish") == "Mish")
    #expect(name("res_1", "Dense", activation: "mish") == "Mish")
    #expect(name("res_1", "Dense", activation: "tanh") == nil)
  }

  @Test func numbersKeepTheirKind() throws {
    let rules = try rules(
      #"""
      [{"class": "A", "className": "B", "description": "d", "parameters":
        {"a": 1, "b": 1.0, "c": 1e2, "d": 3000000000, "e": {"long": 5}, "f": {"double": 1},
         "g": "text", "h": true, "i": "$config.beta", "j": "$config.arguments.n"}}]
      """#)
    let rule = try #require(rules.rules.first)
    let configuration = try #require(
      JSONValue(parsing: #"{"beta": 0.01, "arguments": {"n": 2}}"#).object)
    let custom = try CustomLayerBuilder(configuration: configuration, weights: []).layer(rule)
    #expect(custom.className == "B")
    #expect(custom.classDescription == "d")
    let expected: [String: Custom.Value?] = [
      "a": .int(1), "b": .double(1), "c": .double(100), "d": .long(3_000_000_000), "e": .long(5),
      "f": .double(1), "g": .string("text"), "h": .bool(true), "i": .double(0.01), "j": .int(2),
    ]
    #expect(custom.parameters == expected)
  }

  @Test func absentFieldsAndWeightsAreListed() throws {
    let builder = CustomLayerBuilder(
      configuration: try #require(JSONValue(parsing: #"{"alpha": 1, "axis": [2]}"#).object),
      weights: [("gamma", FloatValues([1])), ("beta", FloatValues([2, 3]))])
    func error(_ text: String) throws -> ModelError? {
      let rule = try #require(rules(text).rules.first)
      do { _ = try builder.layer(rule) } catch { return error as? ModelError }
      return nil
    }
    let field = try error(
      #"[{"class": "A", "className": "B", "parameters": {"x": "$config.beta"}}]"#)
    #expect(field?.hint == "it has alpha, axis")
    let list = try error(
      #"[{"class": "A", "className": "B", "parameters": {"x": "$config.axis"}}]"#)
    #expect(list?.message.contains("[2]") == true)
    let weight = try error(#"[{"class": "A", "className": "B", "weights": ["delta"]}]"#)
    #expect(weight?.hint == "it has gamma, beta")
    #expect(try error(#"[{"class": "A", "className": "B", "weights": ["beta"]}]"#) == nil)
  }

  @Test func weightsMayBeGiven() throws {
    let rule = try #require(
      rules(#"[{"class": "A", "className": "B", "weights": [{"values": [1, 2.5]}, "k"]}]"#).rules
        .first)
    let custom = try CustomLayerBuilder(
      configuration: JSONObject(), weights: [("k", FloatValues([7]))]
    ).layer(rule)
    #expect(try custom.blobs.map { try $0.floatValue.array() } == [[1, 2.5], [7]])
  }

  @Test(arguments: [
    #"[{"class": "A", "className": ""}]"#, #"[{"class": "A"}]"#, #"[{"className": "B"}]"#, "{}",
    #"[{"class": "A", "className": "B", "color": 1}]"#,
    #"[{"class": "A", "className": "B", "parameters": {"a": null}}]"#,
    #"[{"class": "A", "className": "B", "parameters": {"a": {"int": 1.5}}}]"#,
    #"[{"class": "A", "className": "B", "weights": [1]}]"#, #"[1]"#,
    #"[{"class": 3, "className": "B"}]"#,
  ])
  func refusesBrokenRules(_ text: String) {
    #expect(throws: ModelError.self) { try rules(text) }
  }

  @Test func aPatternOfStarsTakesLittleTime() throws {
    let stars = String(repeating: "*a", count: 2000)
    let rules = try rules(#"[{"name": "\#(stars)b", "className": "B"}]"#)
    let subject = CustomLayerSubject(layer: String(repeating: "a", count: 4000), layerClass: "X")
    #expect(rules.rule(for: subject) == nil)
  }
}
