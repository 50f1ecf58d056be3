import Combine
import StreamSupport

/// Runs the effects of one store.
///
/// No foreign code runs under its lock but the comparing of ids.
final class EffectRunner<Action>: Sendable {
  private let home: Home
  /// Takes an action to the store; the store asks ``settle(_:)`` before it counts.
  private let send: @Sendable (Action, EffectScope) -> Void
  /// Does something as a job of the store: alone, on its scheduler, behind the actions that wait.
  private let later: @Sendable (@escaping () -> Void) -> Void

  private struct State {
    var registry = EffectRegistry()
    var throttles: [AnyHashable: Throttle] = [:]
    var lastThrottle = 0
  }

  private let state = Locked(State())

  /// The interval of a throttle that has not ended.
  private struct Throttle {
    /// Tells this interval from earlier ones with the same id.
    let number: Int
    var timer: (any Cancellable)?
    /// What begins when the interval ends, and the interval that begins with it.
    var next: (token: Int, interval: Duration, begin: () -> Void)?
  }

  init(
    home: Home,
    send: @escaping @Sendable (Action, EffectScope) -> Void,
    later: @escaping @Sendable (@escaping () -> Void) -> Void
  ) {
    self.home = home
    self.send = send
    self.later = later
  }

  /// How many effects run or wait.
  var count: Int { state.withLock { $0.registry.count } }

  /// How many ids of effects, and intervals of throttles, are remembered.
  var memory: Int { state.withLock { $0.registry.idCount + $0.throttles.count } }

  /// Runs an effect; to be called from inside a job only.
  func run(_ effect: Effect<Action>) {
    guard !effect.isNone else { return }
    let scope = state.withLock { $0.registry.openScope(id: nil, in: nil) }
    run(effect, in: scope) { [weak self] in self?.release(scope) }
  }

  /// Whether an action that was sent by an effect counts: not if its effect was cancelled meanwhile.
  ///
  /// To be asked once for each action.
  func settle(_ scope: EffectScope) -> Bool {
    state.withLock { state in
      let isStale = state.registry.isStale(scope)
      state.registry.release(scope)
      return !isStale
    }
  }

  /// Cancels everything, and drops what was published and has not been seen.
  func cancelAll() {
    let (leaves, rest) = state.withLock { state in
      let rest = state.throttles
      state.throttles = [:]
      return (state.registry.cancelAll(), rest)
    }
    for leaf in leaves { leaf.cancellable?() }
    for throttle in rest.values { throttle.timer?.cancel() }
  }

  // MARK: Running

  private func run(_ effect: Effect<Action>, in scope: EffectScope, whenEnded: @escaping () -> Void) {
    switch effect.operation {
    case .none: whenEnded()
    case .publisher(let make): run(make, in: scope, whenEnded)
    case .merge(let all): runTogether(all, in: scope, whenEnded)
    case .concatenate(let all): runInTurn(all[...], in: scope, whenEnded)
    case .wait(let duration): wait(duration, in: scope, whenEnded)
    case .cancel(let id):
      cancel(id)
      whenEnded()
    case .cancellable(let effect, let id, let cancelInFlight):
      if cancelInFlight { cancel(id, outside: scope) }
      let inner = state.withLock { $0.registry.openScope(id: id, in: scope) }
      run(effect, in: inner) { [weak self] in
        self?.release(inner)
        whenEnded()
      }
    case .throttle(let effect, let id, let interval, let latest):
      throttle(effect, id: id, interval: interval, latest: latest, in: scope, whenEnded)
    }
  }

  private func run(
    _ make: (EffectContext<Action>) -> AnyPublisher<Action, Never>,
    in scope: EffectScope,
    _ whenEnded: @escaping () -> Void
  ) {
    guard let token = state.withLock({ $0.registry.open(in: scope, whenEnded: whenEnded) }) else { return whenEnded() }
    let publisher = make(EffectContext(home: home) { [weak self] in self?.deliver($0, from: token) })
    let cancellable = publisher.sink(
      receiveCompletion: { [weak self] _ in self?.end(token) },
      receiveValue: { [weak self] in self?.deliver($0, from: token) }
    )
    attach(cancellable, to: token)
  }

  private func wait(_ duration: Duration, in scope: EffectScope, _ whenEnded: @escaping () -> Void) {
    guard let token = state.withLock({ $0.registry.open(in: scope, whenEnded: whenEnded) }) else { return whenEnded() }
    attach(home.perform(after: duration) { [weak self] in self?.end(token) }, to: token)
  }

  private func runTogether(_ all: [Effect<Action>], in scope: EffectScope, _ whenEnded: @escaping () -> Void) {
    let open = Countdown(from: all.count + 1, atZero: whenEnded)
    for effect in all { run(effect, in: scope) { open.step() } }
    open.step()
  }

  private func runInTurn(
    _ all: ArraySlice<Effect<Action>>,
    in scope: EffectScope,
    _ whenEnded: @escaping () -> Void
  ) {
    guard let first = all.first, !state.withLock({ $0.registry.isStale(scope) }) else { return whenEnded() }
    run(first, in: scope) { [weak self] in
      // A job of its own, behind the actions of this part: so the stack stays flat, and on the scheduler.
      self?.later { self?.runInTurn(all.dropFirst(), in: scope, whenEnded) }
    }
  }

  private func throttle(
    _ effect: Effect<Action>,
    id: AnyHashable,
    interval: Duration,
    latest: Bool,
    in scope: EffectScope,
    _ whenEnded: @escaping () -> Void
  ) {
    let inner = state.withLock { $0.registry.openScope(id: id, in: scope) }
    let ended = { [weak self] in
      self?.release(inner)
      whenEnded()
    }
    let begin: () -> Void = { [weak self] in self?.run(effect, in: inner, whenEnded: ended) }
    let isOpen = state.withLock { $0.throttles[id] == nil }
    if isOpen {
      beginInterval(id, interval)
      begin()
    } else if latest, let token = state.withLock({ $0.registry.open(in: inner, whenEnded: ended) }) {
      let superseded = state.withLock { state in
        let superseded = state.throttles[id]?.next
        state.throttles[id]?.next = (token, interval, begin)
        return superseded
      }
      if let superseded { end(superseded.token) }
    } else {
      ended()
    }
  }

  private func beginInterval(_ id: AnyHashable, _ interval: Duration) {
    let number = state.withLock { state in
      state.lastThrottle += 1
      state.throttles[id] = Throttle(number: state.lastThrottle)
      return state.lastThrottle
    }
    let timer = home.perform(after: interval) { [weak self] in
      self?.later { self?.intervalEnded(id, number) }
    }
    let isOpen = state.withLock { state in
      guard state.throttles[id]?.number == number else { return false }
      state.throttles[id]?.timer = timer
      return true
    }
    if !isOpen { timer.cancel() }
  }

  private func intervalEnded(_ id: AnyHashable, _ number: Int) {
    let (ended, leaf): (Throttle?, EffectRegistry.Leaf?) = state.withLock { state in
      guard let throttle = state.throttles[id], throttle.number == number else { return (nil, nil) }
      state.throttles[id] = nil
      return (throttle, throttle.next.flatMap { state.registry.close($0.token) })
    }
    ended?.timer?.cancel()
    // One that was cancelled while it waited has left the registry.
    guard leaf != nil, let next = ended?.next else { return }
    beginInterval(id, next.interval)
    next.begin()
  }

  // MARK: Ending

  private func attach(_ cancellable: any Cancellable, to token: Int) {
    let isOpen = state.withLock { $0.registry.attach({ cancellable.cancel() }, to: token) }
    if !isOpen { cancellable.cancel() }
  }

  private func deliver(_ action: Action, from token: Int) {
    let scope = state.withLock { state in
      let scope = state.registry.scope(of: token)
      if let scope { state.registry.hold(scope) }
      return scope
    }
    if let scope { send(action, scope) }
  }

  private func end(_ token: Int) {
    let leaf = state.withLock { $0.registry.close(token) }
    leaf?.cancellable?()
    leaf?.whenEnded()
  }

  private func cancel(_ id: AnyHashable, outside inner: EffectScope? = nil) {
    let leaves = state.withLock { $0.registry.cancel(id: id, outside: inner) }
    for leaf in leaves {
      leaf.cancellable?()
      leaf.whenEnded()
    }
  }

  private func release(_ scope: EffectScope) {
    state.withLock { $0.registry.release(scope) }
  }
}

/// Calls something when it has been stepped down to zero.
private final class Countdown {
  private let left: Locked<Int>
  private let atZero: () -> Void

  init(from count: Int, atZero: @escaping () -> Void) {
    left = Locked(count)
    self.atZero = atZero
  }

  func step() {
    let isLast = left.withLock { left in
      left -= 1
      return left == 0
    }
    if isLast { atZero() }
  }
}
