import Combine

extension Store {
  /// The values of a part of the state: the present one, then each that differs from the one before.
  ///
  ///     store.select(\.fetchInProgress).sink { spinner.isShown = $0 }
  ///
  /// - Demand: As that of `@Published`. It ends never, and keeps the store's state alive, not the store.
  /// - Threads: The store's scheduler, but for the first value.
  public func select<Value: Equatable>(_ part: @escaping (State) -> Value) -> AnyPublisher<Value, Never> {
    $state.map(part).removeDuplicates().eraseToAnyPublisher()
  }

  /// The values of a part of the state: the present one, then each that differs from the one before.
  ///
  /// - Parameters:
  ///   - part: Takes the part out of the state.
  ///   - isSame: Whether a part is as the one before.
  public func select<Value>(
    _ part: @escaping (State) -> Value,
    removingDuplicatesBy isSame: @escaping (Value, Value) -> Bool
  ) -> AnyPublisher<Value, Never> {
    $state.map(part).removeDuplicates(by: isSame).eraseToAnyPublisher()
  }

  /// A store that stands for a part of this one, for code that knows the part only.
  ///
  ///     let animals = store.scope(state: \.animals, action: AppAction.animals)
  ///
  /// What is sent to it is sent to this store. It keeps this store alive, and has neither effects nor history of its own.
  public func scope<Part, PartAction>(
    state part: @escaping (State) -> Part,
    action embed: @escaping (PartAction) -> Action
  ) -> Store<Part, PartAction> {
    Store<Part, PartAction>(part: part(state), of: $state.map(part).eraseToAnyPublisher()) { self.dispatch(embed($0)) }
  }

  /// A store that stands for a part of this one, and is told of changes of that part only.
  public func scope<Part: Equatable, PartAction>(
    state part: @escaping (State) -> Part,
    action embed: @escaping (PartAction) -> Action
  ) -> Store<Part, PartAction> {
    Store<Part, PartAction>(part: part(state), of: select(part)) { self.dispatch(embed($0)) }
  }
}
