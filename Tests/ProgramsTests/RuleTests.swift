import Testing

@testable import Programs

struct RuleTests {
  @Test func everyOperationIsDeclaredOnce() {
    #expect(operationRules.count == operationRulesByName.count)
  }
}
