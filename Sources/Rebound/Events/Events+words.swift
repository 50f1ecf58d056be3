extension CacheEvent {
  /// The same event, with its key in words.
  var inWords: CacheEvent<String> {
    switch self {
    case .hit(let key, let age): .hit("\(key)", age: age)
    case .revalidates(let key, let age): .revalidates("\(key)", age: age)
    case .staleIfError(let key, let age, let error): .staleIfError("\(key)", age: age, error)
    case .hitFailure(let key, let error): .hitFailure("\(key)", error)
    case .missed(let key): .missed("\(key)")
    case .stored(let key): .stored("\(key)")
    case .tooCostly(let key, let cost): .tooCostly("\(key)", cost: cost)
    case .storedFailure(let key, let error): .storedFailure("\(key)", error)
    case .revalidationFailed(let key, let error): .revalidationFailed("\(key)", error)
    case .evicted(let key): .evicted("\(key)")
    }
  }
}

extension CoalescingEvent {
  /// The same event, with its key in words.
  var inWords: CoalescingEvent<String> {
    switch self {
    case .started(let key): .started("\(key)")
    case .joined(let key, let subscribers): .joined("\(key)", subscribers: subscribers)
    case .ended(let key): .ended("\(key)")
    }
  }
}
