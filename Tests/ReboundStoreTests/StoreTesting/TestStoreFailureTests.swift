import ReboundStoreTesting
import Testing

@Suite("TestStoreFailure")
struct TestStoreFailureTests {
  @Test("each failure says what happened and what to do")
  func describes() {
    #expect(TestStoreFailure.notTaken(action: "a").description.contains("from the test itself"))
    #expect(TestStoreFailure.wrongState(after: "a", differences: []).description.contains("their descriptions do not"))
    #expect(TestStoreFailure.nothingReceived(expected: "a", openEffects: 0).description.hasSuffix("No effect runs."))
    #expect(TestStoreFailure.openEffects(count: 2, nextDue: nil).description.contains("2 effects run on"))
  }
}
