import Combine

/// A publisher that hands its subscribers on to another, and knows how many of them are still there.
final class CensusPublisher: Publisher {
  typealias Output = Int
  typealias Failure = Never

  private struct Entry {
    weak var subscriber: AnyObject?
  }

  private let upstream: any Publisher<Int, Never>
  private var entries: [Entry] = []

  init(_ upstream: any Publisher<Int, Never>) {
    self.upstream = upstream
  }

  /// How many subscribers somebody keeps.
  var livingCount: Int { entries.count { $0.subscriber != nil } }

  func receive<S: Subscriber>(subscriber: S) where S.Input == Int, S.Failure == Never {
    entries.append(Entry(subscriber: subscriber as AnyObject))
    upstream.subscribe(subscriber)
  }
}
