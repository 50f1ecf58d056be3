import Dispatch
import Rebound
import ReboundTesting
import Testing

private struct Overload: Error {}

/// What executions share, asked by many threads at once, answers as if it were asked one thing after the other.
@Suite("What executions share")
struct SharedPolicyHistoryTests {
  private static let rounds = 60
  private static let threads = 4

  /// Has several threads make calls, round after round, each time of a new object, and checks each history.
  private func check<Model: SequentialModel>(
    as model: Model,
    _ caller: (_ history: ConcurrentHistory<Model.Operation, Model.Answer>) -> @Sendable (_ thread: Int) -> Void
  ) throws {
    for _ in 0..<Self.rounds {
      let history = ConcurrentHistory<Model.Operation, Model.Answer>()
      let call = caller(history)
      DispatchQueue.concurrentPerform(iterations: Self.threads) { call($0) }
      try requireLinearizable(history, as: model)
    }
  }

  // MARK: Bulkhead

  private enum PlaceCall { case take, giveBack }

  private struct PlacesModel: SequentialModel {
    let limit: Int
    let initial = 0

    func next(_ taken: Int, _ call: PlaceCall, _ answer: Bool?) -> Int? {
      switch (call, answer) {
      case (.take, true?): taken < limit ? taken + 1 : nil
      case (.take, false?): taken == limit ? taken : nil
      case (.giveBack, _): taken > 0 ? taken - 1 : nil
      case (.take, nil): nil
      }
    }
  }

  @Test("a bulkhead has its places, no more and no fewer")
  func bulkhead() throws {
    try check(as: PlacesModel(limit: 2)) { history in
      let bulkhead = try? Bulkhead("places", policy: BulkheadPolicy(maxConcurrent: 2))
      let time = TestScheduler().time
      return { _ in
        for _ in 0..<3 {
          // One more than there are, so that one thread alone meets the limit, too.
          var permits: [Bulkhead.Permit] = []
          for _ in 0..<3 {
            history.recordAtOnce(.take) {
              guard let permit = try? bulkhead?.acquire(on: time) else { return false }
              permits.append(permit)
              return true
            }
          }
          for permit in permits {
            history.recordAtOnce(.giveBack) {
              permit.release()
              return true
            }
          }
        }
      }
    }
  }

  // MARK: Rate limiter

  private struct TokensModel: SequentialModel {
    let initial: Int

    func next(_ tokens: Int, _ call: Int, _ answer: Bool?) -> Int? {
      answer == (tokens > 0) ? max(tokens - 1, 0) : nil
    }
  }

  @Test("a limiter lets its tokens' number through while time stands still, whoever comes first")
  func limiter() throws {
    try check(as: TokensModel(initial: 10)) { history in
      let limiter = try? RateLimiter("tokens", policy: .tokenBucket(10, per: .seconds(1)))
      let time = TestScheduler().time
      return { thread in
        for _ in 0..<6 {
          history.recordAtOnce(thread) { (try? limiter?.acquire(on: time)) != nil }
        }
      }
    }
  }

  // MARK: Retry budget

  private enum BudgetCall { case grant, succeed }

  private struct BudgetModel: SequentialModel {
    let cost = 5
    let initial = 20

    func next(_ tokens: Int, _ call: BudgetCall, _ answer: Bool?) -> Int? {
      switch call {
      case .grant: answer == (tokens >= cost) ? (tokens >= cost ? tokens - cost : tokens) : nil
      case .succeed: min(tokens + cost, initial)
      }
    }
  }

  @Test("a budget grants what it holds, and takes back what a success returns")
  func budget() throws {
    try check(as: BudgetModel()) { history in
      let budget = try? RetryBudget.bucket(tokens: 20, cost: 5)
      return { thread in
        for number in 0..<5 {
          var retry: RetryBudget.Retry?
          history.recordAtOnce(.grant) {
            retry = budget?.grant(at: .zero)
            retry?.begin(at: .zero)
            return retry != nil
          }
          if let retry, number.isMultiple(of: 2) {
            history.recordAtOnce(.succeed) {
              budget?.succeed(after: retry)
              return true
            }
          }
        }
      }
    }
  }

  // MARK: Circuit breaker

  private enum BreakerCall { case admit, fail, succeed }

  /// How many failures in a row; the last number that it may count is "open".
  private struct BreakerModel: SequentialModel {
    let limit: Int
    let initial = 0

    func next(_ failures: Int, _ call: BreakerCall, _ answer: Bool?) -> Int? {
      let isOpen = failures == limit
      return switch call {
      case .admit: answer == !isOpen ? failures : nil
      case .fail: isOpen ? failures : failures + 1
      case .succeed: isOpen ? failures : 0
      }
    }
  }

  @Test("a breaker opens after its failures in a row, and lets nobody through from then on")
  func breaker() throws {
    try check(as: BreakerModel(limit: 3)) { history in
      let breaker = try? CircuitBreaker("row", policy: .consecutive(3, openFor: .seconds(60)))
      let time = TestScheduler().time
      return { thread in
        for number in 0..<6 {
          var call: CircuitBreaker.Call?
          history.recordAtOnce(.admit) {
            call = try? breaker?.acquire(on: time)
            return call != nil
          }
          guard let call else { continue }
          if (thread + number).isMultiple(of: 3) {
            history.recordAtOnce(.succeed) {
              call.succeed()
              return true
            }
          } else {
            history.recordAtOnce(.fail) {
              call.fail(with: Overload())
              return true
            }
          }
        }
      }
    }
  }

  // MARK: Cache

  private struct CacheCall {
    enum Kind { case store(Int), remove, peek }

    let key: String
    let kind: Kind
  }

  private struct CacheModel: SequentialModel {
    let initial: Int? = nil

    func next(_ value: Int?, _ call: CacheCall, _ answer: Int??) -> Int?? {
      switch call.kind {
      case .store(let new): .some(new)
      case .remove: .some(nil)
      case .peek: answer.map { $0 == value } ?? true ? .some(value) : nil
      }
    }

    func part(of call: CacheCall) -> AnyHashable { call.key }
  }

  @Test("a cache has what was stored last, key by key")
  func cache() throws {
    try check(as: CacheModel()) { history in
      let cache = (try? CachePolicy(fresh: .seconds(60))).map { Cache<String, Int, any Error>(policy: $0) }
      let time = TestScheduler().time
      return { thread in
        for number in 0..<8 {
          let key = number.isMultiple(of: 2) ? "Berlin" : "Oslo"
          switch (thread + number) % 4 {
          case 0:
            history.recordAtOnce(CacheCall(key: key, kind: .remove)) {
              cache?.remove(key)
              return nil
            }
          case 1:
            history.recordAtOnce(CacheCall(key: key, kind: .store(thread * 10 + number))) {
              cache?.store(thread * 10 + number, for: key, at: .zero)
              return nil
            }
          default:
            history.recordAtOnce(CacheCall(key: key, kind: .peek)) { cache?.peek(key, on: time)?.value }
          }
        }
      }
    }
  }
}
