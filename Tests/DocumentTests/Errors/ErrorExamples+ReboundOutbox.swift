import ReboundOutbox

extension ErrorExamples {
  static let outboxes = ErrorExamples(
    module: "ReboundOutbox",
    errors: [
      ("``OutboxFull``", OutboxFull(pending: 7, deadLetters: 1, bytes: 900, capacity: 8, maxBytes: 1_000)),
      (
        "``OutboxFailure/full(_:)``",
        OutboxFailure.full(OutboxFull(pending: 7, deadLetters: 1, bytes: 900, capacity: 8, maxBytes: 1_000))
      ),
      ("``OutboxFailure/unstorable(_:)``", OutboxFailure.unstorable(Unencodable())),
      ("``OutboxFailure/storage(_:)``", OutboxFailure.storage(OutboxStorageFailure.notReady("/orders"))),
      ("``OutboxFailure/closed``", OutboxFailure.closed),
      ("``OutboxStorageFailure/inUse(_:)``", OutboxStorageFailure.inUse("/orders")),
      ("``OutboxStorageFailure/notAnOutbox(_:)``", OutboxStorageFailure.notAnOutbox("/orders")),
      ("``OutboxStorageFailure/laterVersion(_:version:)``", OutboxStorageFailure.laterVersion("/orders", version: 2)),
      (
        "``OutboxStorageFailure/system(_:path:reason:)``",
        OutboxStorageFailure.system("write", path: "/orders", reason: "No space left on device")
      ),
      ("``OutboxStorageFailure/notReady(_:)``", OutboxStorageFailure.notReady("/orders")),
      ("``OutboxWithoutVerdict``", OutboxWithoutVerdict()),
    ]
  )
}

/// What an encoder may say, which has no words for people.
private struct Unencodable: Error, CustomStringConvertible {
  var description: String { "temperature is not a number." }
}
