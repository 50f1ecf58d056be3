/// An operator for `encode` and `decode`, which works before a subscription has come, too.
///
/// Apple's implementation asks only whether the end has come: values and a completion before the subscription pass,
/// and after the end nothing does.
@usableFromInline
final class CodingSubscriber<M: Machine, Downstream: Subscriber>: UpstreamSubscription, Subscriber
where Downstream.Input == M.Output, Downstream.Failure == M.Failures.Downstream, M.Memory == Void {
  @usableFromInline typealias Input = M.Input
  @usableFromInline typealias Failure = M.Failures.Upstream

  @usableFromInline let machine: M
  @usableFromInline let downstream: Downstream

  @inlinable
  init(_ machine: M, to downstream: Downstream) {
    self.machine = machine
    self.downstream = downstream
    super.init()
  }

  @inlinable
  func receive(subscription: any Subscription) {
    if hold(subscription) { downstream.receive(subscription: self) }
  }

  @inlinable @inline(__always)
  func receive(_ input: M.Input) -> Subscribers.Demand {
    guard !isOver else { return .none }
    do throws(M.Failures.Thrown) {
      switch try machine.step((), input).0 {
      case .emit(let output): return downstream.receive(output)
      case .skip, .finish: return .max(1)
      }
    } catch {
      finish(.failure(M.Failures.raise(error)))
      return .none
    }
  }

  @inlinable
  func receive(completion: Subscribers.Completion<M.Failures.Upstream>) {
    guard conclude() != nil else { return }
    downstream.receive(completion: completion.mapError(M.Failures.pass))
  }

  @inlinable
  func finish(_ completion: Subscribers.Completion<M.Failures.Downstream>) {
    guard let ending = conclude() else { return }
    ending.upstream?.cancel()
    downstream.receive(completion: completion)
  }

  @usableFromInline override var name: String { machine.name }
  @usableFromInline
  override var children: [(label: String?, value: Any)] {
    [("downstream", downstream), ("finished", isOver), ("upstreamSubscription", held as Any)]
  }
}
