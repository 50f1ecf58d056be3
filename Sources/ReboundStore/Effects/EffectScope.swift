/// What belongs to one run of an effect: its parts, and the actions that it has published.
///
/// The registry's lock guards all that changes.
final class EffectScope {
  let id: AnyHashable?
  let parent: EffectScope?
  /// The generation in which it was opened; one that is past has no say.
  let generation: Int
  fileprivate(set) var isCancelled = false
  /// How many runs and waiting actions belong to it, those of its parts included.
  fileprivate(set) var holds = 0

  init(id: AnyHashable?, parent: EffectScope?, generation: Int) {
    self.id = id
    self.parent = parent
    self.generation = generation
  }

  /// This scope and those around it, from the inside out.
  fileprivate var chain: some Sequence<EffectScope> { sequence(first: self, next: \.parent) }
}

/// The effects that run, and what is needed to cancel them.
///
/// A plain value; its owner guards it by a lock. What it hands back is to be released, cancelled or called with the lock
/// open.
struct EffectRegistry {
  /// An effect that runs, or waits to.
  struct Leaf {
    let scope: EffectScope
    var cancellable: Cancelling?
    /// What comes next when it has ended.
    let whenEnded: () -> Void
  }

  /// How to stop an effect.
  typealias Cancelling = () -> Void

  private var leaves: [Int: Leaf] = [:]
  private var scopes: [AnyHashable: [EffectScope]] = [:]
  private var lastToken = 0
  private(set) var generation = 0

  /// How many effects run or wait.
  var count: Int { leaves.count }
  /// How many ids are known.
  var idCount: Int { scopes.count }

  func isStale(_ scope: EffectScope) -> Bool {
    scope.generation != generation || scope.chain.contains(where: \.isCancelled)
  }

  /// Opens a scope that is held until it is released as often as it was held.
  mutating func openScope(id: AnyHashable?, in parent: EffectScope?) -> EffectScope {
    let scope = EffectScope(id: id, parent: parent, generation: parent?.generation ?? generation)
    if let id { scopes[id, default: []].append(scope) }
    hold(scope)
    return scope
  }

  func hold(_ scope: EffectScope) {
    for scope in scope.chain { scope.holds += 1 }
  }

  mutating func release(_ scope: EffectScope) {
    for scope in scope.chain {
      scope.holds -= 1
      guard scope.holds == 0, let id = scope.id else { continue }
      scopes[id]?.removeAll { $0 === scope }
      if scopes[id]?.isEmpty == true { scopes[id] = nil }
    }
  }

  /// Notes that an effect begins; `nil` if it was cancelled before.
  mutating func open(in scope: EffectScope, whenEnded: @escaping () -> Void) -> Int? {
    guard !isStale(scope) else { return nil }
    lastToken += 1
    leaves[lastToken] = Leaf(scope: scope, whenEnded: whenEnded)
    return lastToken
  }

  /// Keeps what stops an effect; `false` if it has ended meanwhile.
  mutating func attach(_ cancellable: @escaping Cancelling, to token: Int) -> Bool {
    guard leaves[token] != nil else { return false }
    leaves[token]?.cancellable = cancellable
    return true
  }

  /// The scope of an effect that runs; `nil` if it has ended.
  func scope(of token: Int) -> EffectScope? { leaves[token]?.scope }

  /// Notes that an effect has ended.
  mutating func close(_ token: Int) -> Leaf? { leaves.removeValue(forKey: token) }

  /// Marks what has this id as cancelled, but for what is around a scope: what begins there would cancel itself.
  mutating func cancel(id: AnyHashable, outside inner: EffectScope? = nil) -> [Leaf] {
    let around = Set(inner?.chain.map { ObjectIdentifier($0) } ?? [])
    let named = scopes[id, default: []].filter { !around.contains(ObjectIdentifier($0)) }
    guard !named.isEmpty else { return [] }
    for scope in named { scope.isCancelled = true }
    return takeLeaves { $0.scope.chain.contains(where: \.isCancelled) }
  }

  /// Begins a new generation: what was begun before is cancelled.
  mutating func cancelAll() -> [Leaf] {
    generation += 1
    scopes = [:]
    return takeLeaves { _ in true }
  }

  private mutating func takeLeaves(where isMeant: (Leaf) -> Bool) -> [Leaf] {
    let tokens = leaves.filter { isMeant($0.value) }.keys.sorted()
    return tokens.compactMap { leaves.removeValue(forKey: $0) }
  }
}
