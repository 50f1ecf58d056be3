import Expectations
import Foundation
import ReboundPresentation
import Testing

@Suite("RecoveryChoice")
struct RecoveryChoiceTests {
  private struct DiskFull: RecoverableError {
    var recoveryOptions: [String] { ["Empty the bin", "Save elsewhere"] }
    func attemptRecovery(optionIndex recoveryOptionIndex: Int) -> Bool { recoveryOptionIndex == 1 }
  }

  @Test("the options of a RecoverableError are values, and lead back to it")
  func options() {
    let choices = RecoveryChoice.options(of: DiskFull())
    expectEqual(choices.map(\.title), ["Empty the bin", "Save elsewhere"])
    expectEqual(choices.map(\.optionIndex), [0, 1])
    expectEqual(choices.map { $0.attemptRecovery(from: DiskFull()) }, [false, true])
  }

  @Test("a choice that is no option of the error recovers nothing")
  func noOption() {
    #expect(!RecoveryChoice.retry.attemptRecovery(from: DiskFull()))
    #expect(!RecoveryChoice(id: "option-9", title: "").attemptRecovery(from: DiskFull()))
    #expect(!RecoveryChoice(id: "option-0", title: "").attemptRecovery(from: Silent()))
  }

  @Test("an alert offers the options of the error before the general ones")
  func presented() {
    let presentation = present(DiskFull(), in: .action)
    expectEqual(
      presentation.message?.choices.map(\.title),
      ["Empty the bin", "Save elsewhere", "Try again", "Not now"]
    )
  }
}
