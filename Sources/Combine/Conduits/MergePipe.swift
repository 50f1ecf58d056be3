import StreamSupport
import Synchronization

/// Keeps one value of each upstream that is not owed yet.
@usableFromInline
final class MergePipe<Downstream: Subscriber>: Confluence {
  @usableFromInline let downstream: Downstream
  // All touched only inside the turnstile; nothing foreign runs while they change.
  @exclusivity(unchecked) @usableFromInline var slots: ContiguousArray<Downstream.Input?>
  @exclusivity(unchecked) @usableFromInline var fullSlots = SlotSet()
  @exclusivity(unchecked) @usableFromInline var isDraining = false

  @inlinable
  init(inletCount: Int, to downstream: Downstream) {
    self.downstream = downstream
    slots = ContiguousArray(repeating: nil, count: inletCount)
    super.init(inletCount: inletCount)
  }

  /// Makes the subscription and gives it to downstream, before any upstream is subscribed to.
  @inlinable @inline(__always)
  static func handOver(inletCount: Int, to downstream: Downstream) -> MergePipe {
    let pipe = MergePipe(inletCount: inletCount, to: downstream)
    downstream.receive(subscription: pipe)
    return pipe
  }

  // MARK: Upstreams

  @inlinable @inline(__always)
  func receive(_ input: Downstream.Input, at index: Int) -> Subscribers.Demand {
    guard enter() else {
      return delegate({ [self] in receive(input, at: index) }, from: { [self] in held(at: index) })
    }
    if ledger.isUnlimited, fullSlots.isEmpty {
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
    if slots[index] != nil, ledger.takeOne(), let waiting = takeSlot(index) { deliver(waiting) }
    guard !ledger.isClosed else { return .none }
    guard slots[index] == nil, ledger.takeOne() else {
      let displaced = slots[index]
      slots[index] = input
      fullSlots.insert(index)
      withExtendedLifetime(displaced) {}
      return .none
    }
    deliver(input)
    drain()
    return .max(1)
  }

  @usableFromInline
  func receive(completion: Subscribers.Completion<Downstream.Failure>, at index: Int) {
    // Inside, so that nobody takes this inlet for the last while a value of it is delegated.
    guard enter() else { return delegate { [self] in receive(completion: completion, at: index) } }
    if finishInlet(index) {
      switch completion {
      case .finished: finishIfDone()
      case .failure:
        if end() {
          dropSlots()
          downstream.receive(completion: completion)
        }
      }
    }
    leave()
  }

  // MARK: Downstream

  @usableFromInline
  override func request(_ demand: Subscribers.Demand) {
    let released = owe(demand)
    callErrand()
    for subscription in released { ask(subscription, for: .unlimited) }
  }

  @usableFromInline
  override func runErrand() {
    if ledger.isClosed { dropSlots() } else { drain() }
  }

  /// Delivers what waits, in the order of the upstreams, as far as it is owed.
  ///
  /// Called inside the turnstile.
  @usableFromInline
  func drain() {
    // Inside itself there is nothing to do: the outer loop goes on.
    guard !isDraining else { return }
    isDraining = true
    while let index = fullSlots.first, ledger.takeOne(), let waiting = takeSlot(index) {
      deliver(waiting)
      if !ledger.isUnlimited, let upstream = held(at: index) { ask(upstream, for: .max(1)) }
    }
    isDraining = false
    finishIfDone()
  }

  @usableFromInline
  func deliver(_ output: Downstream.Input) {
    let more = downstream.receive(output)
    guard more != .none else { return }
    for subscription in owe(more) { ask(subscription, for: .unlimited) }
  }

  @usableFromInline
  func takeSlot(_ index: Int) -> Downstream.Input? {
    let waiting = slots[index]
    slots[index] = nil
    fullSlots.remove(index)
    return waiting
  }

  /// Called inside the turnstile.
  @usableFromInline
  func finishIfDone() {
    guard !isDraining, fullSlots.isEmpty, areAllOver, end() else { return }
    downstream.receive(completion: .finished)
  }

  @usableFromInline
  func dropSlots() {
    let dropped = slots
    slots = ContiguousArray(repeating: nil, count: dropped.count)
    fullSlots = SlotSet()
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
struct MergeInlet<Downstream: Subscriber>: Subscriber, CourierSide {
  @usableFromInline typealias Input = Downstream.Input
  @usableFromInline typealias Failure = Downstream.Failure

  @usableFromInline let index: Int
  @usableFromInline let pipe: MergePipe<Downstream>
  @usableFromInline let combineIdentifier = CombineIdentifier()

  @inlinable @inline(__always)
  init(_ index: Int, of pipe: MergePipe<Downstream>) {
    self.index = index
    self.pipe = pipe
  }

  @usableFromInline var courier: Courier { pipe }

  @inlinable
  func receive(subscription: any Subscription) {
    if let arrival = pipe.hold(subscription.tether, at: index) { subscription.request(arrival.demand) }
  }

  @inlinable @inline(__always)
  func receive(_ input: Downstream.Input) -> Subscribers.Demand {
    pipe.receive(input, at: index)
  }

  @inlinable
  func receive(completion: Subscribers.Completion<Failure>) {
    pipe.receive(completion: completion, at: index)
  }
}
