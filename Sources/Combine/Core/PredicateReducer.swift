/// Decides a question as soon as one value answers it: `contains` and `allSatisfy`.
@usableFromInline
struct PredicateReducer<Input, Failures: FailureFlow>: Reducer {
  @usableFromInline let name: String
  @usableFromInline let decisive: Bool
  @usableFromInline let predicate: (Input) throws(Failures.Thrown) -> Bool

  /// - Parameter decisive: what the predicate has to say to decide the question; that is the result then.
  @inlinable @inline(__always)
  init(_ name: String, on decisive: Bool, _ predicate: @escaping (Input) throws(Failures.Thrown) -> Bool) {
    self.name = name
    self.decisive = decisive
    self.predicate = predicate
  }

  @usableFromInline var initial: Void { () }

  @inlinable @inline(__always)
  func add(_ input: Input, to memory: consuming Void) throws(Failures.Thrown) -> Reduction<Void, Bool> {
    try predicate(input) == decisive ? .decided(decisive) : .more(())
  }

  @inlinable
  func result(of memory: Void) -> Bool? { !decisive }
}
