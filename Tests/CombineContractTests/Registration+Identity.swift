import Combine

extension Registration {
  /// Who comes to the upstreams when two subscribers come to one publisher.
  func arrivalsOfTwo() -> [CombineIdentifier] {
    let stage = Stage()
    let spectators = attachTwo(stage)
    let arrivals = stage.arrivals
    stage.close()
    withExtendedLifetime(spectators) {}
    return arrivals
  }

  /// How many should come: two to each upstream, unless what comes between is shared, or there is no upstream.
  var expectedArrivalsOfTwo: Int {
    switch name {
    case "multicast", "makeConnectable": 0
    case "share", "autoconnect": 1
    default: (Registration.sources + Registration.foundation).contains { $0.name == name } ? 0 : 2 * sideCount
    }
  }

  /// The identifiers of the subscription and of those that came to the upstreams.
  func identifiers() -> (below: CombineIdentifier?, above: [CombineIdentifier]) {
    let stage = Stage()
    let spectator = attach(stage)
    stage.perform(.subscribe)
    let identifiers = (stage.seenSubscription?.combineIdentifier, stage.arrivals)
    stage.close()
    withExtendedLifetime(spectator) {}
    return identifiers
  }

  /// Whether the object that is the subscription is what comes to the upstreams as well, or shows its identifier.
  var hasOneIdentifier: Bool {
    // What has sides has one for each; a map or a subject comes to the upstreams of the others.
    let hasOthersAbove = ["switchToLatest", "encode", "decode"].contains(name) || family.name == Family.sharing.name
    let isSource = (Registration.sources + Registration.foundation).contains { $0.name == name }
    let hasSides = [Family.merge.name, Family.zip.name, Family.combineLatest.name].contains(family.name)
    return !hasOthersAbove && !isSource && !hasSides && family.outcomes[.subscription]?.hasPrefix("own") != true
  }
}
