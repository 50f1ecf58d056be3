import Expectations
import ReboundStore
import Testing

@Suite("Alerts")
struct AlertStateTests {
  private let failed = AlertState<String>(title: "Failed", buttons: [.init("Retry", action: "retry")])
  private let other = AlertState<String>(title: "Other")

  @Test("an alert is dismissed once and for all; a second dismissal does nothing")
  func dismissTwice() {
    var alerts = Alerts<String>()
    let id = alerts.present(failed)
    expectEqual(alerts.current?.alert, failed)
    expectEqual(alerts.dismiss(id), true)
    #expect(alerts.current == nil)
    expectEqual(alerts.dismiss(id), false)
    #expect(alerts.current == nil)
  }

  @Test("a late dismissal of an earlier alert leaves the present one alone")
  func dismissOld() {
    var alerts = Alerts<String>()
    let old = alerts.present(failed)
    alerts.dismiss(old)
    let new = alerts.present(failed)
    #expect(new != old)
    expectEqual(alerts.dismiss(old), false)
    expectEqual(alerts.current?.id, new)
  }

  @Test("dismissing in a store raises no other alert")
  func noLoop() {
    enum Action: Sendable {
      case failed
      case dismissed(Int)
    }
    var alerts = Alerts<Action>()
    let reducer = Reducer<Alerts<Action>, Action> { (state, action) in
      switch action {
      case .failed: state.present(AlertState(title: "Failed"))
      case .dismissed(let id): state.dismiss(id)
      }
    }
    reducer(&alerts, .failed)
    guard let id = alerts.current?.id else { return #expect(Bool(false), "the alert is shown") }
    for _ in 1...3 { reducer(&alerts, .dismissed(id)) }
    #expect(alerts.current == nil)
  }

  @Test("shows one alert at a time; the others wait in line")
  func waitsInLine() {
    var alerts = Alerts<String>()
    let first = alerts.present(failed)
    let second = alerts.present(other)
    #expect((alerts.current?.id, alerts.waitingCount) == (first, 1))
    expectEqual(alerts.dismiss(first), true)
    #expect((alerts.current?.id, alerts.waitingCount) == (second, 0))
  }

  @Test("an alert that waits can be dismissed before it is shown")
  func dismissWaiting() {
    var alerts = Alerts<String>()
    let first = alerts.present(failed)
    let second = alerts.present(other)
    expectEqual(alerts.dismiss(second), true)
    #expect((alerts.current?.id, alerts.waitingCount) == (first, 0))
  }

  @Test("an alert that says the same as one in line is not shown a second time")
  func merges() {
    var alerts = Alerts<String>()
    let id = alerts.presentOnce(failed)
    expectEqual(alerts.presentOnce(failed), id)
    #expect(alerts.presentOnce(other) != id)
    expectEqual(alerts.waitingCount, 1)
  }

  @Test("an alert without buttons of its own can be dismissed")
  func defaultButton() {
    expectEqual(other.buttons, [.init("OK", role: .cancel)])
  }
}
