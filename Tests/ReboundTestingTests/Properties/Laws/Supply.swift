import Combine
import ReboundTesting

/// The failure of these properties' upstreams.
struct Broken: Error, Equatable {}

/// An upstream that keeps the contract: it sends what it is told to, but nothing beyond the demand or after its end.
final class Supply: Publisher {
  typealias Output = Int
  typealias Failure = Broken

  private(set) var demand = Subscribers.Demand.none
  private(set) var sent: [Int] = []
  private(set) var end: Subscribers.Completion<Broken>?
  private(set) var isCancelled = false
  private var subscriber: AnySubscriber<Int, Broken>?

  /// Whether nothing more can come of it.
  var isOver: Bool { end != nil || isCancelled }
  var isSubscribed: Bool { subscriber != nil }

  func receive<S: Subscriber>(subscriber: S) where S.Input == Int, S.Failure == Broken {
    self.subscriber = AnySubscriber(subscriber)
    subscriber.receive(subscription: Inlet(self))
  }

  /// Says whether the value was sent.
  @discardableResult
  func send(_ value: Int) -> Bool {
    guard let subscriber, !isOver, demand > .none else { return false }
    demand -= 1
    sent.append(value)
    demand += subscriber.receive(value)
    return true
  }

  @discardableResult
  func send(completion: Subscribers.Completion<Broken>) -> Bool {
    guard let subscriber, !isOver else { return false }
    end = completion
    subscriber.receive(completion: completion)
    return true
  }

  private final class Inlet: Subscription {
    private let supply: Supply

    init(_ supply: Supply) {
      self.supply = supply
    }

    func request(_ demand: Subscribers.Demand) { supply.demand += demand }
    func cancel() { supply.isCancelled = true }
  }
}

/// Something that happens at either end of an operator.
enum Move: CustomDebugStringConvertible {
  case request(Int)
  case requestAll
  case send(Int, side: Int)
  case finish(side: Int)
  case fail(side: Int)

  static func generator(sides: Int) -> Generator<Move> {
    let side = Generator<Int>.integer(in: 0...sides - 1)
    let value = Generator<Int>.integer(in: 0...9)
    let request = Generator<Int>.integer(in: 1...3).map { Move.request($0) }
    let send = Generator { Move.send($0.draw(value), side: $0.draw(side)) }
    let end = Generator { choices in
      let side = choices.draw(side)
      return choices.draw(upTo: 3) == 3 ? Move.fail(side: side) : .finish(side: side)
    }
    return .one(of: [request, send, send, send, send, request, end, .constant(.requestAll)])
  }

  var debugDescription: String {
    switch self {
    case .request(let count): "request \(count)"
    case .requestAll: "request all"
    case .send(let value, let side): "\(side) sends \(value)"
    case .finish(let side): "\(side) finishes"
    case .fail(let side): "\(side) fails"
    }
  }
}

/// What came, or should come.
struct Outcome: Equatable, CustomDebugStringConvertible {
  enum End: Equatable {
    case finished
    case failed
  }

  var values: [Int] = []
  var end: End?

  var debugDescription: String { "\(values) \(end.map { "\($0)" } ?? "…")" }
}

extension Recorder<Int, Broken> {
  var outcome: Outcome { Outcome(values: values, end: completion.map { $0 == .finished ? .finished : .failed }) }
}
