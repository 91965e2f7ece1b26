import Testing

@testable import MILImport

struct RuleTests {
  @Test func everyOperationIsDeclaredOnce() {
    #expect(operationRules.count == operationRulesByName.count)
  }
}
