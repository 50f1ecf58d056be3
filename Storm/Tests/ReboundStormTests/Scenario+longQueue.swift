import ReboundStorm

extension Scenario {
  /// Ten requests a second for one place, in which each stays for ten: two hundred wait when the fault comes.
  static var longQueueBeforeOutage: Scenario {
    Scenario(
      arrivals: .constant(perSecond: 10),
      service: Service(concurrency: 1, time: .constant(10)),
      faults: [.outage(from: 20, to: 21)],
      duration: 22
    )
  }
}
