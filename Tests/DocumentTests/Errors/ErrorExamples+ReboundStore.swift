import ReboundStore
import ReboundStoreTesting

extension ErrorExamples {
  static let store = ErrorExamples(
    module: "ReboundStore",
    errors: [
      ("``InvalidSession/noHistory``", InvalidSession.noHistory),
      ("``InvalidSession/beginningForgotten(_:)``", InvalidSession.beginningForgotten(3)),
      ("``InvalidSession/unwritable(_:)``", InvalidSession.unwritable("forecast is no number")),
      (
        "``InvalidSession/unreadable(at:reason:)``",
        InvalidSession.unreadable(at: "actions.[3]", reason: "forecast is missing")
      ), ("``InvalidSession/unknownVersion(_:)``", InvalidSession.unknownVersion(9)),
    ]
  )

  static let storeTesting = ErrorExamples(
    module: "ReboundStoreTesting",
    errors: [
      (
        "``TestStoreFailure/wrongState(after:differences:)``",
        TestStoreFailure.wrongState(after: "increment", differences: ["count: 2 → 1"])
      ),
      (
        "``TestStoreFailure/unexpected(expected:received:)``",
        TestStoreFailure.unexpected(expected: "increment", received: "decrement")
      ),
      (
        "``TestStoreFailure/nothingReceived(expected:openEffects:)``",
        TestStoreFailure.nothingReceived(expected: "increment", openEffects: 2)
      ),
      (
        "``TestStoreFailure/unreceived(actions:before:)``",
        TestStoreFailure.unreceived(actions: ["increment"], before: "the end")
      ),
      (
        "``TestStoreFailure/openEffects(count:nextDue:)``",
        TestStoreFailure.openEffects(count: 2, nextDue: "60.0 seconds")
      ), ("``TestStoreFailure/notTaken(action:)``", TestStoreFailure.notTaken(action: "increment")),
    ]
  )
}
