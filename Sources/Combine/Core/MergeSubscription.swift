import StreamSupport
import Synchronization

/// Keeps one value of each upstream that is not owed yet.
@usableFromInline
final class MergeSubscription<Downstream: Subscriber>: SerialSubscription {
  @usableFromInline let downstream: Downstream
  @usableFromInline let upstreams: UpstreamSlots
  // All touched only inside the combining lock; nothing foreign runs while they change.
  @exclusivity(unchecked) @usableFromInline var waiting: ContiguousArray<Downstream.Input?>
  @exclusivity(unchecked) @usableFromInline var waitingIndices = SlotSet()
  @exclusivity(unchecked) @usableFromInline var isDraining = false

  @inlinable
  init(upstreamCount: Int, to downstream: Downstream) {
    self.downstream = downstream
    waiting = ContiguousArray(repeating: nil, count: upstreamCount)
    upstreams = UpstreamSlots(count: upstreamCount)
    super.init()
  }

  /// Makes the subscription and gives it to downstream, before any upstream is subscribed to.
  @inlinable @inline(__always)
  static func handOver(upstreamCount: Int, to downstream: Downstream) -> MergeSubscription {
    let parent = MergeSubscription(upstreamCount: upstreamCount, to: downstream)
    downstream.receive(subscription: parent)
    return parent
  }

  // MARK: Upstreams

  @inlinable @inline(__always)
  func receive(_ input: Downstream.Input, at index: Int) -> Subscribers.Demand {
    guard enter() else {
      return delegate({ [self] in receive(input, at: index) }, from: { [self] in upstreams.held(at: index) })
    }
    if outstanding.isUnlimited, waitingIndices.isEmpty {
      let answer = downstream.receive(input)
      leave()
      return answer
    }
    let answer = receiveCounted(input, at: index)
    leave()
    return answer
  }

  @usableFromInline
  func receiveCounted(_ input: Downstream.Input, at index: Int) -> Subscribers.Demand {
    // A value of this upstream that waits goes first, also while others are being delivered.
    if waiting[index] != nil, outstanding.takeOne(), let value = takeWaiting(index) { deliver(value) }
    guard !outstanding.isClosed else { return .none }
    guard waiting[index] == nil, outstanding.takeOne() else {
      let displaced = waiting[index]
      waiting[index] = input
      waitingIndices.insert(index)
      withExtendedLifetime(displaced) {}
      return .none
    }
    deliver(input)
    drain()
    return .max(1)
  }

  @usableFromInline
  func receive(completion: Subscribers.Completion<Downstream.Failure>, at index: Int) {
    // Inside, so that nobody takes this upstream for the last while a value of it is delegated.
    guard enter() else { return delegate { [self] in receive(completion: completion, at: index) } }
    if upstreams.finish(index, outstanding) {
      switch completion {
      case .finished: finishIfDone()
      case .failure:
        if upstreams.end(outstanding) {
          dropWaiting()
          downstream.receive(completion: completion)
        }
      }
    }
    leave()
  }

  // MARK: Downstream

  @usableFromInline
  override func request(_ demand: Subscribers.Demand) {
    let released = upstreams.add(demand, to: outstanding)
    scheduleWork()
    for subscription in released { request(from: subscription, .unlimited) }
  }

  @usableFromInline
  override func cancel() {
    // What waits goes when nobody is inside.
    if upstreams.end(outstanding) { scheduleWork() }
  }

  @usableFromInline
  override func drainPendingWork() {
    if outstanding.isClosed { dropWaiting() } else { drain() }
  }

  /// Delivers what waits, in the order of the upstreams, as far as it is owed.
  ///
  /// Called inside the combining lock.
  @usableFromInline
  func drain() {
    // Inside itself there is nothing to do: the outer loop goes on.
    guard !isDraining else { return }
    isDraining = true
    while let index = waitingIndices.first, outstanding.takeOne(), let value = takeWaiting(index) {
      deliver(value)
      if !outstanding.isUnlimited, let upstream = upstreams.held(at: index) { request(from: upstream, .max(1)) }
    }
    isDraining = false
    finishIfDone()
  }

  @usableFromInline
  func deliver(_ output: Downstream.Input) {
    let more = downstream.receive(output)
    guard more != .none else { return }
    for subscription in upstreams.add(more, to: outstanding) { request(from: subscription, .unlimited) }
  }

  @usableFromInline
  func takeWaiting(_ index: Int) -> Downstream.Input? {
    let value = waiting[index]
    waiting[index] = nil
    waitingIndices.remove(index)
    return value
  }

  /// Called inside the combining lock.
  @usableFromInline
  func finishIfDone() {
    guard !isDraining, waitingIndices.isEmpty, upstreams.areAllOver, upstreams.end(outstanding) else { return }
    downstream.receive(completion: .finished)
  }

  @usableFromInline
  func dropWaiting() {
    let dropped = waiting
    waiting = ContiguousArray(repeating: nil, count: dropped.count)
    waitingIndices = SlotSet()
    withExtendedLifetime(dropped) {}
  }

  @usableFromInline override var name: String { "Merge" }
}

/// Indices in ascending order, one bit for each, so that the first of thousands is found quickly.
@usableFromInline
struct SlotSet {
  @usableFromInline var words: ContiguousArray<UInt> = []
  @usableFromInline var count = 0

  @inlinable @inline(__always)
  init() {}

  @inlinable @inline(__always)
  var isEmpty: Bool { count == 0 }

  @usableFromInline
  var first: Int? {
    guard count > 0, let word = words.firstIndex(where: { $0 != 0 }) else { return nil }
    return word * UInt.bitWidth + words[word].trailingZeroBitCount
  }

  @usableFromInline
  mutating func insert(_ index: Int) {
    let (word, bit) = index.quotientAndRemainder(dividingBy: UInt.bitWidth)
    while words.count <= word { words.append(0) }
    guard words[word] & (1 << bit) == 0 else { return }
    words[word] |= 1 << bit
    count += 1
  }

  @usableFromInline
  mutating func remove(_ index: Int) {
    let (word, bit) = index.quotientAndRemainder(dividingBy: UInt.bitWidth)
    guard word < words.count, words[word] & (1 << bit) != 0 else { return }
    words[word] &= ~(1 << bit)
    count -= 1
  }
}

/// The subscriber of one upstream.
@usableFromInline
struct MergeInput<Downstream: Subscriber>: Subscriber, SerialInput {
  @usableFromInline typealias Input = Downstream.Input
  @usableFromInline typealias Failure = Downstream.Failure

  @usableFromInline let index: Int
  @usableFromInline let parent: MergeSubscription<Downstream>
  @usableFromInline let combineIdentifier = CombineIdentifier()

  @inlinable @inline(__always)
  init(_ index: Int, of parent: MergeSubscription<Downstream>) {
    self.index = index
    self.parent = parent
  }

  @usableFromInline var owner: SerialSubscription { parent }

  @inlinable
  func receive(subscription: any Subscription) {
    if let arrival = parent.upstreams.hold(subscription.asBase, at: index, parent.outstanding) {
      subscription.request(arrival.demand)
    }
  }

  @inlinable @inline(__always)
  func receive(_ input: Downstream.Input) -> Subscribers.Demand {
    parent.receive(input, at: index)
  }

  @inlinable
  func receive(completion: Subscribers.Completion<Failure>) {
    parent.receive(completion: completion, at: index)
  }
}
