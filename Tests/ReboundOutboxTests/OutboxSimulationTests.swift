import Combine
import Foundation
import Rebound
import ReboundOutbox
import ReboundTesting
import StreamSupport
import Testing

@Suite("Outbox: simulation")
struct OutboxSimulationTests {
  @Test(
    "whatever fails and whenever the process ends or power goes: nothing that was promised is lost, and keys keep order"
  )
  func simulation() {
    var total = Simulation.Counts()
    for seed in UInt64(1)...1_500 {
      var simulation = Simulation(seed: seed)
      let complaints = simulation.run()
      #expect(complaints.isEmpty, "seed \(seed): \(complaints.joined(separator: "; "))")
      total.add(simulation.counts)
    }
    // The faults that it is about did happen.
    #expect(total.promises > 3_000)
    #expect(total.powerLosses > 500)
    #expect(total.kills > 500)
    #expect(total.refusals > 200)
    #expect(total.torn > 50)
    #expect(total.repetitions > 200)
  }
}

/// One life of an outbox with all that may go wrong, drawn from a seed.
private struct Simulation {
  struct Counts {
    var promises = 0
    var powerLosses = 0
    var kills = 0
    var refusals = 0
    var torn = 0
    var repetitions = 0

    mutating func add(_ other: Counts) {
      promises += other.promises
      powerLosses += other.powerLosses
      kills += other.kills
      refusals += other.refusals
      torn += other.torn
      repetitions += other.repetitions
    }
  }

  /// One wish to store something.
  private struct Wish {
    let number: Int
    let key: String
    let replaces: Bool
    let answer: Recorder<OutboxEntry<String>, OutboxFailure>

    var isPromised: Bool { !answer.values.isEmpty }
    var payload: String { "\(number)" }
  }

  private(set) var counts = Counts()
  private let scheduler = TestScheduler()
  private let disk: SimulatedDisk
  private let receiver: Receiver
  private let accepted = Log<String>()
  private var random: SeededRandom
  private var wishes: [Wish] = []
  private var takenBack: Set<Int> = []
  private var test: OutboxUnderTest?
  private var complaints: [String] = []

  init(seed: UInt64) {
    random = SeededRandom(seed: seed)
    disk = SimulatedDisk(seed: seed)
    receiver = Receiver(on: scheduler)
    let verdicts = RandomSource.seeded(seed &* 31)
    receiver.programAll { [accepted] entry in
      // The same is refused each time, or a refusal that is forgotten would look like a change of order.
      if (Int(entry.payload) ?? 0) % 9 == 8 { return .now(.refused(TestFailure.permanent)) }
      let draw = verdicts.next()
      let delay = Duration.milliseconds(Int(verdicts.next() * 3_000))
      switch draw {
      case ..<0.3:
        accepted.write(entry.payload)
        return .now(.delivered)
      case ..<0.5:
        accepted.write(entry.payload)
        return .after(delay, .delivered)
      case ..<0.6:
        // It has arrived, and nobody will ever know.
        accepted.write(entry.payload)
        return .never
      case ..<0.7: return .never
      case ..<0.85: return .after(delay, .tryLater(TestFailure.transient))
      default: return .now(.unreachable(TestFailure.transient))
      }
    }
  }

  mutating func run() -> [String] {
    open()
    for _ in 0..<Int.random(in: 6...16, using: &random) { step() }
    // All is well from now on.
    receiver.programAll { [accepted] entry in
      accepted.write(entry.payload)
      return .now(.delivered)
    }
    restart(losingPower: Bool.random(using: &random))
    scheduler.advance(by: .seconds(100))
    check()
    return complaints
  }

  private mutating func step() {
    switch random.nextUnit() {
    case ..<0.5: enqueue()
    case ..<0.6: takeBack()
    case ..<0.65: test?.outbox.deliverNow()
    case ..<0.75: scheduler.advance(by: .init(.milliseconds(Int.random(in: 0...15_000, using: &random))))
    case ..<0.8:
      counts.refusals += 1
      disk.refuse(call: Int.random(in: 1...4, using: &random))
    case ..<0.9:
      counts.kills += 1
      restart(losingPower: false)
    default:
      counts.powerLosses += 1
      disk.losePower(inCall: Int.random(in: 1...5, using: &random))
      for _ in 0..<3 { enqueue() }
      restart(losingPower: true)
    }
    if Bool.random(using: &random) { scheduler.advance() }
  }

  private mutating func enqueue() {
    let wish = Wish(
      number: wishes.count,
      key: ["a", "b", "c"].randomElement(using: &random) ?? "a",
      replaces: random.nextUnit() < 0.15,
      answer: Recorder(on: scheduler)
    )
    wishes.append(wish)
    test?.outbox.enqueueing(wish.payload, key: wish.key, options: wish.replaces ? .latest : .standard)
      .subscribe(wish.answer)
    if random.nextUnit() < 0.7 { scheduler.advance() }
  }

  private mutating func takeBack() {
    guard let wish = wishes.randomElement(using: &random), let entry = wish.answer.values.first, let test else {
      return
    }
    takenBack.insert(wish.number)
    _ = test.ask(test.outbox.cancelling(entry.id))
  }

  private mutating func restart(losingPower: Bool) {
    // Whatever it still does has no effect: for the disk, it is gone already.
    disk.restart(losingPower: losingPower)
    test = nil
    open()
  }

  private mutating func open() {
    let test = OutboxUnderTest(
      .steady(),
      storage: FileOutboxStorage(path: "/box", disk: disk),
      scheduler: scheduler,
      receiver: receiver,
      seed: random.next()
    )
    self.test = test
    test.outbox.start()
    scheduler.advance()
    for case .opened(_, _, _, let damage) in test.log.events {
      for damage in damage {
        if case .torn = damage { counts.torn += 1 } else { complaints.append("\(damage)") }
      }
    }
  }

  private mutating func check() {
    let arrived = Set(accepted.entries)
    let dead = Set(test?.outbox.deadLetters.map(\.entry.payload) ?? [])
    counts.promises = wishes.count(where: \.isPromised)
    counts.repetitions = accepted.count - arrived.count
    if test?.outbox.state.pending != 0 {
      complaints.append("not all is delivered: \(String(describing: test?.outbox.state))")
    }

    func isAccountedFor(_ wish: Wish) -> Bool {
      arrived.contains(wish.payload) || dead.contains(wish.payload) || takenBack.contains(wish.number)
        || wishes[(wish.number + 1)...].contains { $0.replaces && $0.key == wish.key && isAccountedFor($0) }
    }
    for wish in wishes where wish.isPromised && !isAccountedFor(wish) {
      complaints.append("entry \(wish.payload) of '\(wish.key)' was promised, and is lost")
    }

    for key in ["a", "b", "c"] {
      var seen: Set<String> = []
      let first = accepted.entries.filter { seen.insert($0).inserted }.compactMap { Int($0) }
        .filter { wishes[$0].key == key }
      if first != first.sorted() { complaints.append("'\(key)' arrived in the order \(first)") }
    }

    let keys = Dictionary(grouping: receiver.arrivals, by: \.entry.payload).mapValues {
      Set($0.map(\.entry.idempotencyKey))
    }
    for (payload, keys) in keys where keys.count > 1 { complaints.append("entry \(payload) had the keys \(keys)") }
  }
}
