import Combine
import Testing

@Suite("AnyCancellable")
struct AnyCancellableTests {
  @Test("cancels once, when told to or when it goes")
  func once() {
    var count = 0
    var cancellable: AnyCancellable? = AnyCancellable { count += 1 }
    cancellable?.cancel()
    cancellable = nil
    #expect(count == 1)
    cancellable = AnyCancellable { count += 1 }
    #expect(cancellable != nil)
    cancellable = nil
    #expect(count == 2)
  }

  @Test("cancels what it wraps, and keeps it no longer")
  func wraps() {
    weak var wrapped: SubscriptionSpy?
    let cancellable: AnyCancellable
    do {
      let spy = SubscriptionSpy()
      wrapped = spy
      cancellable = AnyCancellable(AnyCancellable(spy))
    }
    #expect(wrapped != nil)
    cancellable.cancel()
    #expect(wrapped == nil)
  }

  @Test("is stored as itself, and equals only itself")
  func store() {
    let cancellable = AnyCancellable {}
    var array: [AnyCancellable] = []
    var set: Set<AnyCancellable> = []
    cancellable.store(in: &array)
    cancellable.store(in: &set)
    cancellable.store(in: &set)
    SubscriptionSpy().store(in: &set)
    #expect(array == [cancellable])
    #expect(set.count == 2 && set.contains(cancellable))
    #expect(cancellable != AnyCancellable {})
  }
}
