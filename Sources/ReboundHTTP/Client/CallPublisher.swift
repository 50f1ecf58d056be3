import Combine
import StreamSupport

/// Makes a call for each subscriber: prepares it, sends it through all middleware, parses the answer, and tells those who
/// watch.
///
/// One stage in place of a chain of operators, because each of those costs every request some microseconds. What depends
/// on the types is here and made in the caller's module; all else is in ``CallSubscription``.
@usableFromInline
struct CallPublisher<Output: Sendable>: Publisher {
  @usableFromInline typealias Failure = NetworkFailure

  /// Prepares a call, or says why that cannot be done.
  @usableFromInline let begin: () throws(NetworkFailure) -> Call<Output>

  @inlinable
  init(_ begin: @escaping () throws(NetworkFailure) -> Call<Output>) {
    self.begin = begin
  }

  @inlinable
  func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == NetworkFailure {
    let call: Call<Output>
    do {
      call = try begin()
    } catch {
      return Fail(error: error).subscribe(subscriber)
    }
    call.subscription.start(
      whenAnswered: { [parse = call.parse] answer, subscription in
        let value = try parse(answer)
        return subscription.accepts(answer) ? subscriber.receive(value) : .none
      },
      whenTurned: { turn in
        switch turn {
        case .begun(let subscription): subscriber.receive(subscription: subscription)
        case .ended(let completion): subscriber.receive(completion: completion)
        }
      }
    )
  }
}

/// A call that is ready to be made.
@usableFromInline
struct Call<Output> {
  @usableFromInline let subscription: CallSubscription
  @usableFromInline let parse: (HTTPResponse) throws -> Output

  @inlinable
  init(_ subscription: CallSubscription, parse: @escaping (HTTPResponse) throws -> Output) {
    self.subscription = subscription
    self.parse = parse
  }
}
