import AllocationCounter
import Combine

/// What a subscription holds while nothing goes through it.
struct IdleSubscription: Codable {
  let bytes: Int
  let allocations: Double

  /// Measures subscriptions of subject → map → filter → sink.
  static func measure() -> IdleSubscription {
    let number = 4_096
    let subject = PassthroughSubject<Int, Never>()
    var subscriptions: [AnyCancellable] = []
    subscriptions.reserveCapacity(number + 1)
    let total = Total()
    func subscribe() {
      subscriptions.append(subject.map { $0 &* 3 }.filter { $0 & 1 == 0 }.sink { total.add($0) })
    }
    subscribe()
    allocation_counter_start()
    for _ in 0..<number { subscribe() }
    let counted = allocation_counter_stop()
    for subscription in subscriptions { subscription.cancel() }
    let allocations = (Double(counted.calls) / Double(number) * 10).rounded() / 10
    return IdleSubscription(bytes: counted.bytes / number, allocations: allocations)
  }
}
