import Rebound
import Synchronization

/// Lets one call of each key begin in an interval; others wait for their turn, or are refused if it is too far off.
final class ThrottleByKey: PolicyObservable {
  static let kind = PolicyKind("throttle")

  let interval: Duration
  let longestWait: Duration
  private let nextTurns = Mutex<[String: Duration]>([:])

  init(every interval: Duration, longestWait: Duration) {
    self.interval = interval
    self.longestWait = longestWait
  }

  /// The policy for calls of one key.
  subscript(key: String) -> ForKey { ForKey(throttle: self, key: key) }

  var reading: (any PolicyReading)? { ThrottleReading(keyCount: nextTurns.withLock { $0.count }) }

  fileprivate func takeTurn(of key: String, at now: Duration) -> Duration {
    nextTurns.withLock { next in
      if next.count >= 1_000 { next = next.filter { $0.value > now } }
      let turn = max(next[key] ?? now, now)
      if turn - now <= longestWait { next[key] = turn + interval }
      return turn
    }
  }

  fileprivate func giveBack(_ turn: Duration, of key: String) {
    nextTurns.withLock { next in if next[key] == turn + interval { next[key] = turn } }
  }

  struct ForKey: Policy {
    let throttle: ThrottleByKey
    let key: String

    var descriptor: StageDescriptor { StageDescriptor(ThrottleByKey.kind, parameters: [.init("key", key)]) }
    var traits: StageTraits { StageTraits(descriptor: descriptor, sharedObject: throttle) }
    func register(with events: PolicyEvents?, pipeline: String) { events?.watch(throttle, named: pipeline) }
    func makeMachine(_ execution: ExecutionContext) -> Machine { Machine(policy: self) }
  }

  struct Machine: PolicyMachine {
    let policy: ForKey
    var awaitedTurn: Duration?

    mutating func begins(_ execution: ExecutionContext) -> Decision<any Error> {
      if awaitedTurn != nil { awaitedTurn = nil; return .proceed }
      let now = execution.now
      let turn = policy.throttle.takeTurn(of: policy.key, at: now)
      if turn == now { return .proceed }
      let isRefused = turn - now > policy.throttle.longestWait
      execution.tell(ThrottleEvent(wait: turn - now, word: isRefused ? "refused" : "waits"))
      if isRefused { return .refuse(NotItsTurn(retryAfter: turn - now)) }
      awaitedTurn = turn
      return .wait(turn - now)
    }

    mutating func cancelled(_ execution: ExecutionContext) {
      if let awaitedTurn { policy.throttle.giveBack(awaitedTurn, of: policy.key) }
    }
  }
}

struct NotItsTurn: Error, RetryAfterProviding { let retryAfter: Duration? }

struct ThrottleEvent: PolicyDecision {
  static let kind = ThrottleByKey.kind
  let wait: Duration
  let word: String
  var description: String { "\(word), \(wait) before its turn" }
}

struct ThrottleReading: PolicyReading {
  let keyCount: Int
  var measurements: [PolicyMeasurement] { [PolicyMeasurement("throttle_keys", Double(keyCount))] }
  var description: String { "\(keyCount) keys" }
}
