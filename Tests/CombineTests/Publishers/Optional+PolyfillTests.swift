import Combine
import Expectations
import Testing

extension Optional {
  // As packages have it that are older than the property of Apple's Combine.
  fileprivate var publisher: AnyPublisher<Wrapped, Never> { Just(self).compactMap { $0 }.eraseToAnyPublisher() }
}

@Suite("Optional.publisher beside a package's own")
struct OptionalPolyfillTests {
  @Test("the package's is taken, whether the type is named or not")
  func polyfill() {
    expectEqual("\(Optional(7).publisher)", "AnyPublisher")
    let named: AnyPublisher<Int, Never> = Optional(7).publisher
    expectEqual(named.description, "AnyPublisher")
  }
}
