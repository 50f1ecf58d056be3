/// The way up from a subscription to the next ``Courier``, past pipes with one upstream.
@usableFromInline
enum Ascent {
  case courier(Courier)
  /// A pipe that has no subscription of its own yet.
  case link(Link)

  /// Nil if no courier is there.
  init?(from subscription: any Subscription) {
    var subscription = subscription
    while let link = subscription as? Link {
      guard let upstream = link.held else {
        self = .link(link)
        return
      }
      subscription = upstream
    }
    guard let courier = subscription as? Courier else { return nil }
    self = .courier(courier)
  }

  var courier: Courier? {
    switch self {
    case .courier(let courier): return courier
    case .link(let link):
      guard let upstream = link.held, case .courier(let courier) = Ascent(from: upstream) else { return nil }
      return courier
    }
  }
}
