import Rebound
import ReboundTesting

/// Races of what services are made of: caches, leases, breakers, limits, subscriptions.
extension PlantedRace {
  static let ofServices = [
    eventBeforeSubscription, staleCacheFill, auditOfATransfer, doubleClose, limitCheckedBeforeTheAwait, twoProbes,
    deliveryAfterUnsubscribe, numberGivenTwice, writeAfterTheLease, rollbackOverANewerValue,
  ]

  private static let eventBeforeSubscription = PlantedRace("event before subscription") {
    actor Hub {
      var listeners = 0
      var received = 0
      func subscribe() { listeners += 1 }
      func publish() { received += listeners }
    }
    let hub = Hub()
    let listener = Task { await hub.subscribe() }
    let publisher = Task { await hub.publish() }
    await listener.value
    await publisher.value
    try requireEqual(await hub.received, 1)
  }

  private static let staleCacheFill = PlantedRace("a cache filled with what was read before the change") {
    actor Shelf {
      var value: Int? = 1
      func set(_ value: Int?) { self.value = value }
    }
    let origin = Shelf()
    let cache = Shelf()
    await cache.set(nil)
    let reader = Task {
      let value = await origin.value
      await Task.yield()
      await cache.set(value)
    }
    let writer = Task {
      await origin.set(2)
      await cache.set(nil)
    }
    await reader.value
    await writer.value
    let cached = await cache.value
    try requireTrue(cached != 1, "the cache keeps the old value")
  }

  private static let auditOfATransfer = PlantedRace("audit in the middle of a transfer") {
    actor Account {
      var balance: Int
      init(_ balance: Int) { self.balance = balance }
      func add(_ amount: Int) { balance += amount }
    }
    let current = Account(100)
    let savings = Account(0)
    async let transfer: Void = {
      await current.add(-40)
      await Task.yield()
      await savings.add(40)
    }()
    async let audit = Task { await current.balance + savings.balance }.value
    await transfer
    try requireEqual(await audit, 100)
  }

  private static let doubleClose = PlantedRace("double close") {
    actor File {
      var isOpen = true
      var closes = 0
      func close() async {
        guard isOpen else { return }
        await Task.yield()
        isOpen = false
        closes += 1
      }
    }
    let file = File()
    async let first: Void = file.close()
    async let second: Void = file.close()
    _ = await (first, second)
    try requireEqual(await file.closes, 1)
  }

  private static let limitCheckedBeforeTheAwait = PlantedRace("limit checked before the await") {
    actor Limit {
      var running = 0
      var most = 0
      func enter() {
        running += 1
        most = max(most, running)
      }
      func leave() { running -= 1 }
    }
    let limit = Limit()
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<3 {
        group.addTask {
          guard await limit.running < 2 else { return }
          await Task.yield()
          await limit.enter()
          await Task.yield()
          await limit.leave()
        }
      }
    }
    let most = await limit.most
    try requireTrue(most <= 2, "\(most) ran")
  }

  private static let twoProbes = PlantedRace("two probes of a half-open circuit") {
    actor Circuit {
      enum State { case open, halfOpen }
      var state = State.open
      var probes = 0
      func probe() {
        state = .halfOpen
        probes += 1
      }
    }
    let circuit = Circuit()
    let calls = (0..<2).map { _ in
      Task {
        try await TimeSource.current.sleep(for: .seconds(30))
        if await circuit.state == .open { await circuit.probe() }
      }
    }
    for call in calls { try await call.value }
    try requireEqual(await circuit.probes, 1)
  }

  private static let deliveryAfterUnsubscribe = PlantedRace("delivery after the subscription ended") {
    actor Hub {
      var listeners: [Int] = [1, 2]
      var deliveriesTooLate = 0
      func deliver() async {
        for listener in listeners {
          await Task.yield()
          if !listeners.contains(listener) { deliveriesTooLate += 1 }
        }
      }
      func unsubscribe(_ listener: Int) { listeners.removeAll { $0 == listener } }
    }
    let hub = Hub()
    async let delivery: Void = hub.deliver()
    async let end: Void = hub.unsubscribe(2)
    _ = await (delivery, end)
    try requireEqual(await hub.deliveriesTooLate, 0)
  }

  private static let numberGivenTwice = PlantedRace("a number given twice") {
    actor Numbers {
      var last = 0
      func next() async -> Int {
        let number = last + 1
        await Task.yield()
        last = number
        return number
      }
    }
    let numbers = Numbers()
    async let first = numbers.next()
    async let second = numbers.next()
    let given = await [first, second]
    try requireEqual(Set(given).count, 2)
  }

  private static let writeAfterTheLease = PlantedRace("write after the lease went to another") {
    actor Lease {
      var holder = "old"
      func take(_ name: String) { holder = name }
    }
    actor Disk {
      var writes: [String] = []
      func write(_ name: String) { writes.append(name) }
    }
    let lease = Lease()
    let disk = Disk()
    let old = Task {
      try await ContinuousClock().sleep(for: .seconds(5))
      guard await lease.holder == "old" else { return }
      await Task.yield()
      await disk.write("old")
    }
    let new = Task {
      try await ContinuousClock().sleep(for: .seconds(5))
      await lease.take("new")
      await disk.write("new")
    }
    try await old.value
    try await new.value
    try requireEqual(await disk.writes.last, "new")
  }

  private static let rollbackOverANewerValue = PlantedRace("rollback over a newer value") {
    @MainActor final class Form {
      nonisolated init() {}
      var name = "Ada"
      func saveInVain(_ name: String) async {
        let before = self.name
        self.name = name
        await Task.yield()
        self.name = before
      }
      func type(_ name: String) { self.name = name }
    }
    let form = Form()
    let save = Task { await form.saveInVain("Grace") }
    let typing = Task { await form.type("Barbara") }
    await save.value
    await typing.value
    try requireEqual(await form.name, "Barbara")
  }
}
