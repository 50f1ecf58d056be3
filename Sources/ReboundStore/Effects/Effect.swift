import Combine
import Rebound

/// Something that happens because of an action, and that gives more actions back, now or later.
///
///     Effect.run(service.search(text), retrying: .standard.when(\.isTransient)) { .found($0, for: text) }
///       .debounce(id: "search", for: .milliseconds(800))
///
/// A value that does nothing until a store runs it. It can't fail: whoever makes one of something that can has to say
/// which action stands for the failure. It is released when it ends.
public struct Effect<Action> {
  indirect enum Operation {
    case none
    case publisher((EffectContext<Action>) -> AnyPublisher<Action, Never>)
    case merge([Effect])
    case concatenate([Effect])
    case wait(Duration)
    case cancel(AnyHashable)
    case cancellable(Effect, id: AnyHashable, cancelInFlight: Bool)
    case throttle(Effect, id: AnyHashable, interval: Duration, latest: Bool)
  }

  let operation: Operation

  init(_ operation: Operation) {
    self.operation = operation
  }
}

extension Effect {
  /// Nothing happens.
  public static var none: Effect { Effect(.none) }

  /// An action follows, behind those that wait already.
  public static func send(_ action: Action) -> Effect {
    .publisher(Just(action))
  }

  /// The actions of a publisher follow, from whichever thread it publishes them.
  ///
  /// It is subscribed to on the store's scheduler, and asked for everything at once.
  public static func publisher<P: Publisher>(_ publisher: P) -> Effect where P.Output == Action, P.Failure == Never {
    Effect(.publisher { _ in publisher.eraseToAnyPublisher() })
  }

  /// Runs several effects at the same time.
  public static func merge(_ effects: Effect...) -> Effect { .merge(effects) }

  /// Runs several effects at the same time.
  public static func merge(_ effects: [Effect]) -> Effect { Effect(.merge(effects)) }

  /// Runs several effects one after the other; one that is cancelled counts as ended.
  public static func concatenate(_ effects: Effect...) -> Effect { .concatenate(effects) }

  /// Runs several effects one after the other; one that is cancelled counts as ended.
  public static func concatenate(_ effects: [Effect]) -> Effect { Effect(.concatenate(effects)) }

  /// Nothing happens for a while.
  ///
  /// - Parameter duration: By the store's time. A negative one counts as none.
  public static func wait(_ duration: Duration) -> Effect { Effect(.wait(duration)) }

  /// Cancels all running effects with this id, waiting ones included.
  ///
  /// What they have published and the reducer has not seen yet is dropped, too. No cancel is a failure: nothing is told.
  public static func cancel<ID: Hashable>(id: ID) -> Effect { Effect(.cancel(AnyHashable(id))) }

  /// The same effect, which can be cancelled by an id.
  ///
  /// - Parameters:
  ///   - id: Several effects may have the same; they are cancelled together.
  ///   - cancelInFlight: Whether to cancel first what runs with the same id, so that the latest wins: an earlier one's
  ///     answer is never seen after this effect has begun, however late it comes. What this effect is a part of goes on,
  ///     whatever its id.
  public func cancellable<ID: Hashable>(id: ID, cancelInFlight: Bool = false) -> Effect {
    Effect(.cancellable(self, id: AnyHashable(id), cancelInFlight: cancelInFlight))
  }

  /// The same effect, begun after a pause in which no other one with this id came; the latest wins.
  ///
  /// It cancels what waits or runs with the same id.
  ///
  /// - Parameters:
  ///   - id: Tells what belongs together.
  ///   - pause: By the store's time.
  public func debounce<ID: Hashable>(id: ID, for pause: Duration) -> Effect {
    Effect.concatenate([.wait(pause), self]).cancellable(id: id, cancelInFlight: true)
  }

  /// The same effect, begun at most once in each interval.
  ///
  /// The first one begins at once. Nothing that runs is cancelled.
  ///
  /// - Parameters:
  ///   - id: Tells what belongs together; ``cancel(id:)`` knows it.
  ///   - interval: By the store's time.
  ///   - latest: Whether the latest of those that came too soon begins when the interval ends; the others are dropped.
  public func throttle<ID: Hashable>(id: ID, for interval: Duration, latest: Bool = true) -> Effect {
    Effect(.throttle(self, id: AnyHashable(id), interval: interval, latest: latest))
  }

  /// Whether this is ``none``.
  public var isNone: Bool {
    if case .none = operation { true } else { false }
  }

  /// The same effect, whose actions are changed into others.
  public func map<Other>(_ transform: @escaping (Action) -> Other) -> Effect<Other> {
    switch operation {
    case .none: .none
    case .publisher(let make):
      Effect<Other>(
        .publisher { context in
          let inner = EffectContext<Action>(home: context.home) { context.send(transform($0)) }
          return make(inner).map(transform).eraseToAnyPublisher()
        }
      )
    case .merge(let all): .merge(all.map { $0.map(transform) })
    case .concatenate(let all): .concatenate(all.map { $0.map(transform) })
    case .wait(let duration): .wait(duration)
    case .cancel(let id): Effect<Other>(.cancel(id))
    case .cancellable(let effect, let id, let cancelInFlight):
      Effect<Other>(.cancellable(effect.map(transform), id: id, cancelInFlight: cancelInFlight))
    case .throttle(let effect, let id, let interval, let latest):
      Effect<Other>(.throttle(effect.map(transform), id: id, interval: interval, latest: latest))
    }
  }
}

/// What an effect gets from the store that runs it.
struct EffectContext<Action> {
  let home: Home
  /// Sends an action besides those that the effect publishes, as long as it runs.
  let send: (Action) -> Void
}
