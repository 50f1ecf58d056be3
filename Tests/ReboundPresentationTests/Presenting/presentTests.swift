import Expectations
import Foundation
import Rebound
import ReboundPresentation
import Testing

@Suite("present(_:in:)")
struct PresentTests {
  struct Row: Sendable, CustomTestStringConvertible {
    let row: String
    let error: any Error
    let context: PresentationContext
    let expected: String

    var testDescription: String { "\(row): \(error), \(context)" }
  }

  private static let refusal = RateLimited(name: "search", retryAfter: .seconds(3), queued: 0)

  private static let surfaces: [Row] = [
    // The whole table.
    Row(row: "U1", error: CancellationError(), context: .action, expected: "ignore"),
    Row(row: "U1", error: Trouble.cancelled, context: .firstLoad, expected: "ignore"),
    Row(row: "U1", error: Trouble.outdated, context: .typing(in: "userName"), expected: "alert update"),
    Row(row: "U1", error: Trouble.outdated, context: .firstLoad, expected: "alert update"),
    Row(row: "U1", error: Trouble.signedOut, context: .refresh, expected: "signIn signIn"),
    Row(row: "U1", error: Trouble.server, context: .action, expected: "alert failure"),
    Row(row: "U1", error: Silent(), context: .action, expected: "alert failure"),
    Row(row: "U1", error: Silent(), context: .firstLoad, expected: "fullScreen failure"),
    // The first load takes the screen, a refresh leaves the content there.
    Row(row: "U2", error: Trouble.server, context: .firstLoad, expected: "fullScreen failure"),
    Row(row: "U2", error: Trouble.server, context: .refresh, expected: "toast failure"),
    Row(
      row: "U2",
      error: Trouble.server,
      context: PresentationContext(hasContent: true, attempt: 2),
      expected: "banner failure"
    ),
    Row(
      row: "U2",
      error: Trouble.server,
      context: PresentationContext(isUserInitiated: true),
      expected: "fullScreen failure"
    ),
    // A server that says when to come back.
    Row(row: "U6", error: Trouble.maintenance, context: .firstLoad, expected: "fullScreen maintenance 17"),
    Row(row: "U6", error: Trouble.maintenance, context: .action, expected: "fullScreen maintenance 17"),
    Row(row: "U6", error: Trouble.maintenance, context: .refresh, expected: "banner maintenance 17"),
    Row(row: "U6", error: Trouble.order, context: .action, expected: "fullScreen maintenance"),
    Row(
      row: "U6",
      error: Trouble(isMaintenance: true, isRetryable: false, retryAfter: .seconds(17)),
      context: .firstLoad,
      expected: "fullScreen maintenance"
    ),
    Row(row: "U6", error: Trouble(isMaintenance: true), context: .firstLoad, expected: "fullScreen failure"),
    // One that is well, and only asked too often.
    Row(row: "U6", error: Trouble.tooMany, context: .firstLoad, expected: "fullScreen failure 17"),
    Row(row: "U6", error: Trouble.tooMany, context: .action, expected: "alert failure 17"),
    Row(row: "U6", error: Trouble.tooMany, context: .refresh, expected: "toast failure 17"),
    // This program's own limits know nothing of the server.
    Row(row: "U6", error: refusal, context: .firstLoad, expected: "fullScreen failure 3"),
    Row(row: "U6", error: refusal, context: .action, expected: "alert failure 3"),
    Row(row: "U6", error: refusal, context: .refresh, expected: "toast failure 3"),
    Row(
      row: "U6",
      error: Trouble(isMaintenance: true, retryAfter: .seconds(17), isRefusal: true),
      context: .refresh,
      expected: "toast failure 17"
    ),
    Row(row: "U6", error: Trouble(retryAfter: .zero), context: .firstLoad, expected: "fullScreen failure"),
    // Without a network.
    Row(row: "U7", error: Trouble.offline, context: .firstLoad, expected: "fullScreen offline"),
    Row(row: "U7", error: Trouble.offline, context: .refresh, expected: "banner offline"),
    Row(row: "U7", error: Trouble.offline, context: .action, expected: "banner offline"),
    Row(row: "U7", error: Trouble.offline, context: .typing(in: "userName"), expected: "ignore"),
    Row(
      row: "U7",
      error: Silent(),
      context: PresentationContext(hasContent: true, isOffline: true),
      expected: "banner offline"
    ),
    Row(
      row: "U7",
      error: Trouble.permanent,
      context: PresentationContext(hasContent: true, isOffline: true),
      expected: "toast failure"
    ),
    // Beside the field.
    Row(row: "U9", error: Trouble.taken, context: .action, expected: "inline userName: This name is taken."),
    Row(row: "U9", error: Trouble.taken, context: .typing(in: "x"), expected: "inline userName: This name is taken."),
    Row(
      row: "U9",
      error: Trouble(fieldErrors: [FieldError(field: nil, message: "Too short.")]),
      context: .typing(in: "userName"),
      expected: "inline userName: Too short."
    ),
    Row(
      row: "U9",
      error: Trouble(fieldErrors: [FieldError(field: nil, message: "Too short.")]),
      context: .action,
      expected: "alert failure"
    ),
    Row(
      row: "U9",
      error: Trouble.server,
      context: .typing(in: "userName"),
      expected: "inline userName: The server is not well."
    ),
    Row(
      row: "U9",
      error: Trouble.maintenance,
      context: .typing(in: "userName"),
      expected: "inline userName: Temporarily unavailable."
    ),
  ]

  private func summary(_ presentation: Presentation) -> String {
    if case .inline(let errors) = presentation {
      return "inline " + errors.map { "\($0.field ?? "?"): \($0.message)" }.joined(separator: ", ")
    }
    guard let surface = presentation.surface, let message = presentation.message else { return "ignore" }
    let hint = message.retryAfter.map { " \($0.components.seconds)" } ?? ""
    return "\(surface) \(message.topic)\(hint)"
  }

  @Test("shows every error where it belongs", arguments: surfaces)
  func table(_ row: Row) {
    expectEqual(summary(present(row.error, in: row.context)), row.expected)
  }

  @Test("the update alert has the buttons of the form: Upgrade and Not now")
  func updateButtons() {
    let message = present(Trouble.outdated, in: .typing(in: "userName")).message
    expectEqual(message?.title, "Please update")
    expectEqual(message?.choices, [.upgrade, .later])
  }

  @Test("another try is offered unless the error says that it can't help, and an alert has a way out")
  func choices() {
    expectEqual(present(Trouble.server, in: .action).message?.choices, [.retry, .later])
    expectEqual(present(Trouble.permanent, in: .action).message?.choices, [.ok])
    expectEqual(present(Trouble.permanent, in: .firstLoad).message?.choices, [])
    let closed = Trouble(isRetryable: false, retryAfter: .seconds(17))
    expectEqual(present(closed, in: .firstLoad).message?.choices, [])
    expectEqual(present(closed, in: .action).message?.choices, [.ok])
    // Whether what must not be done twice may be done again, only a person can know.
    let order = Trouble(isRetryable: false, retryAfter: .seconds(17), mayBeRepeated: false)
    expectEqual(present(order, in: .action).message?.choices, [.retry, .later])
    let own = Trouble(choices: [RecoveryChoice(id: "x", title: "X", role: .cancel)])
    expectEqual(present(own, in: .action).message?.choices.map(\.id), ["x", "retry"])
  }

  @Test("a full screen over content has a way back to it, whatever it offers; one over nothing needs none")
  func wayBack() {
    expectEqual(present(Trouble.maintenance, in: .action).message?.choices, [.retry, .later])
    expectEqual(present(Trouble.maintenance, in: .firstLoad).message?.choices, [.retry])
    expectEqual(present(Trouble.maintenance, in: .refresh).message?.choices, [.retry])
    let support = RecoveryChoice(id: "support", title: "Support", role: .normal)
    let closed = Trouble(isMaintenance: true, isRetryable: false, choices: [support], retryAfter: .seconds(17))
    expectEqual(present(closed, in: .action).message?.choices, [support, .later])
    let way = RecoveryChoice(id: "x", title: "X", role: .cancel)
    let own = Trouble(isMaintenance: true, choices: [way], retryAfter: .seconds(17))
    expectEqual(present(own, in: .action).message?.choices.map(\.id), ["x", "retry"])
  }

  @Test("errors of fields that nobody knows are not lost: their words are the message")
  func unplacedFields() {
    let error = Trouble(
      fieldErrors: [FieldError(field: "a", message: "Too short."), FieldError(field: nil, message: "Sold out.")]
    )
    expectEqual(present(error, in: .action).message?.text, "Too short. Sold out.")
  }
}
