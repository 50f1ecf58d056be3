#if Redis
  import Rebound

  /// The object with which a process decides alone while it does not reach the server, for its share of what all may do.
  struct LocalTwin<Object: EventTelling> {
    private(set) var object: Object
    /// Of how many instances it is one.
    private var parts: Int
    private var observers: [(audience: Audience, tell: @Sendable (Object.Event) -> Void)] = []

    init(_ object: Object, ofOneIn parts: Int) {
      (self.object, self.parts) = (object, parts)
    }

    /// Adds an observer of this one and those that come after it.
    ///
    /// - Returns: This one, which has yet to be told, with no lock held.
    mutating func add(
      to audience: Audience,
      _ observer: @escaping @Sendable (Object.Event) -> Void
    ) -> Object {
      observers.removeAll { $0.audience.isOver }
      observers.append((audience, observer))
      return object
    }

    /// The object of one in so many instances: another one if they were not as many before.
    ///
    /// - Returns: The one before as well, to be released with no lock held: it may be the last to hold foreign objects.
    mutating func ofOneIn(_ parts: Int, make: (_ before: Object) -> Object) -> (now: Object, before: Object) {
      let before = object
      if self.parts != parts {
        (object, self.parts) = (make(before), parts)
        // Nothing is untold there yet, so nobody is called with a lock held.
        for observer in observers { object.onEvent(to: observer.audience, observer.tell) }
      }
      return (object, before)
    }
  }
#endif
