import StreamSupport

/// How a state answers an action: the only way in which a store's state ever changes.
///
///     let counter = Reducer<Int, CounterAction> { count, action in
///       switch action {
///       case .increment: count += 1
///       case .reset: count = 0
///       }
///     }
///
/// A reducer is pure: the same state and action give the same state, and nothing else happens. What is to happen in the
/// world stands in a ``Middleware`` or ``Reaction``. That is what lets a ``History`` replay without effects.
public struct Reducer<State, Action>: Sendable {
  private let reduce: @Sendable (inout State, Action) -> Void

  /// Makes a reducer of a function.
  ///
  /// - Parameter reduce: Changes the state as the action says. Called for one action after the other, never nested.
  public init(_ reduce: @escaping @Sendable (inout State, Action) -> Void) {
    self.reduce = reduce
  }

  /// A reducer of a function that one store calls, and never two threads at a time.
  static func confined(_ reduce: @escaping (inout State, Action) -> Void) -> Reducer {
    // A store does one action after the other.
    let confined = Confined(reduce)
    return Reducer { confined.value(&$0, $1) }
  }

  /// Makes a reducer that asks several ones, in order, each with the state that the ones before have left.
  public init(combining reducers: [Reducer]) {
    self.init { state, action in
      for reducer in reducers { reducer(&state, action) }
    }
  }

  /// A reducer that asks several ones, in order, each with the state that the ones before have left.
  public static func combine(_ reducers: Reducer...) -> Reducer {
    Reducer(combining: reducers)
  }

  /// Changes a state as an action says.
  public func callAsFunction(_ state: inout State, _ action: Action) {
    reduce(&state, action)
  }
}

extension Reducer {
  /// The same reducer for a part of a greater state, and for some of its actions.
  ///
  ///     animals.scoped(state: \AppState.animals, action: { (action: AppAction) in action.animals })
  ///
  /// - Parameters:
  ///   - part: Where this reducer's state stands in the greater one.
  ///   - extract: The action that a greater action carries for this reducer; `nil` leaves the state as it is.
  public func scoped<Whole, WholeAction>(
    state part: WritableKeyPath<Whole, State> & Sendable,
    action extract: @escaping @Sendable (WholeAction) -> Action?
  ) -> Reducer<Whole, WholeAction> {
    Reducer<Whole, WholeAction> { whole, action in
      guard let action = extract(action) else { return }
      reduce(&whole[keyPath: part], action)
    }
  }

  /// The same reducer for a part of a greater state, and for the actions of one case.
  public func scoped<Whole, WholeAction>(
    state part: WritableKeyPath<Whole, State> & Sendable,
    action path: CasePath<WholeAction, Action>
  ) -> Reducer<Whole, WholeAction> {
    scoped(state: part, action: path.extract)
  }

  /// The same reducer for a part of a greater state that is not always there.
  ///
  /// An action that comes while it is not there changes nothing: it is a late answer to a part that is gone.
  public func scoped<Whole, WholeAction>(
    state part: WritableKeyPath<Whole, State?> & Sendable,
    action path: CasePath<WholeAction, Action>
  ) -> Reducer<Whole, WholeAction> {
    Reducer<Whole, WholeAction> { whole, action in
      guard var state = whole[keyPath: part], let action = path.extract(action) else { return }
      reduce(&state, action)
      whole[keyPath: part] = state
    }
  }

  /// The same reducer for one case of a greater state.
  ///
  /// An action that comes while the state is another case changes nothing.
  public func scoped<Whole, WholeAction>(
    state part: CasePath<Whole, State>,
    action path: CasePath<WholeAction, Action>
  ) -> Reducer<Whole, WholeAction> {
    Reducer<Whole, WholeAction> { whole, action in
      guard var state = part.extract(whole), let action = path.extract(action) else { return }
      reduce(&state, action)
      whole = part.embed(state)
    }
  }

  /// The same reducer for each element of an array, found by its id.
  ///
  /// An action for an element that is not there changes nothing.
  ///
  /// - Complexity: O(n) in the elements, to find the one that is meant.
  public func forEach<Whole, WholeAction>(
    state part: WritableKeyPath<Whole, [State]> & Sendable,
    action extract: @escaping @Sendable (WholeAction) -> (id: State.ID, action: Action)?
  ) -> Reducer<Whole, WholeAction> where State: Identifiable & Sendable, State.ID: Sendable {
    Reducer<Whole, WholeAction> { whole, action in
      guard let (id, action) = extract(action),
        let index = whole[keyPath: part].firstIndex(where: { $0.id == id })
      else { return }
      reduce(&whole[keyPath: part][index], action)
    }
  }
}
