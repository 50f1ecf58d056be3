import StreamSupport

/// Keeps values from any thread.
final class ValueLog<Value>: Sendable {
  private let log = Locked<[Value]>([])

  var values: [Value] { log.withLock { $0 } }

  func append(_ value: Value) { log.withLock { $0.append(value) } }
}
