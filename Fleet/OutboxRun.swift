#if Redis
  import Foundation
  import Rebound
  import ReboundOutbox
  import ReboundRedis
  import StreamSupport

  /// Processes with one outbox are killed, one after the other: whether each acknowledged entry is delivered, and in order.
  ///
  /// Two processes run at any time; one has the outbox, and the other one waits for it. What was acknowledged and delivered
  /// stands in the server's own lists, since no process lives long.
  struct OutboxRun {
    private static let keyCount = 3
    private let kills: Int
    private let port: Int

    init(_ command: Command) throws {
      kills = try command.number("count", 100)
      port = try command.number("port", 7414)
    }

    func run() async throws {
      let server = try await Server(port: port)
      let witness = try await Witness(port: port)
      let opened = Opened()
      var members: [Child] = []
      func start() throws {
        let number = members.count
        members.append(
          try Child(CommandLine.arguments[0], ["outbox-member", "--port", "\(port)"]) { line in
            if line == "opened" { opened.add(number) }
          }
        )
      }
      try start()
      try start()
      for kill in 0..<kills {
        let owner = try await opened.next()
        try await pause(.random(in: 0.01...0.1))
        members[owner].kill()
        try start()
        if (kill + 1).isMultiple(of: 50) { note("\(kill + 1) of \(kills) killed") }
      }
      // The last one delivers what is left.
      let deadline = TimeSource.system.now + .seconds(30)
      var (missing, disorder, total) = (0, 0, 0)
      repeat {
        try await pause(0.1)
        (missing, disorder, total) = (0, 0, 0)
        for key in 0..<Self.keyCount {
          let acknowledged = try await witness.numbers("acknowledged:\(key)")
          let delivered = try await witness.numbers("delivered:\(key)")
          total += acknowledged.count
          missing += Set(acknowledged).subtracting(delivered).count
          // Once more is allowed, but nothing comes for the first time behind what was entered later.
          var most = 0
          var seen = Set<Int>()
          for number in delivered where seen.insert(number).inserted {
            if number < most { disorder += 1 }
            most = max(most, number)
          }
        }
        if TimeSource.system.now > deadline { break }
      } while missing > 0
      for member in members { member.kill() }
      server.kill()
      say("\(kills) kills: \(total) entries acknowledged, \(missing) not delivered, \(disorder) out of order")
      guard missing == 0, disorder == 0, total > 0 else { throw Failed(description: "an entry was lost or out of order") }
    }
  }

  /// A process that enters and delivers as long as it lives.
  struct OutboxMember {
    private struct Payload: Codable, Sendable {
      let key: Int
      let number: Int
    }

    private let port: Int

    init(_ command: Command) throws {
      port = try command.number("port", 7414)
    }

    func run() async throws {
      let witness = try await Witness(port: port)
      var settings = FleetSettings.standard
      settings.heartbeat = .milliseconds(50)
      let fleet = try Fleet("run", at: .tcp("127.0.0.1", port: port), instances: 2, settings: settings)
      while true {
        let storage = try fleet.outboxStorage("orders", lease: .milliseconds(200))
        let outbox = Outbox<Payload>("orders", storage: storage) { entry in
          do {
            _ = try await witness.ask("RPUSH", "delivered:\(entry.payload.key)", "\(entry.payload.number)")
            return .delivered
          } catch { return .tryLater(error) }
        }
        do { try await outbox.open() } catch {
          // Another process has it.
          await outbox.close()
          try await pause(0.02)
          continue
        }
        say("opened")
        try await withThrowingTaskGroup(of: Void.self) { group in
          for key in 0..<3 {
            group.addTask {
              while true {
                let number = try await witness.ask("INCR", "last:\(key)").integer ?? 0
                try await outbox.enqueue(Payload(key: key, number: number), key: "\(key)")
                _ = try await witness.ask("RPUSH", "acknowledged:\(key)", "\(number)")
              }
            }
          }
          try await group.waitForAll()
        }
      }
    }
  }

  /// Which members have opened the outbox, and were not asked for yet.
  private final class Opened: Sendable {
    private let stream: AsyncStream<Int>
    private let continuation: AsyncStream<Int>.Continuation

    init() {
      (stream, continuation) = AsyncStream.makeStream()
    }

    func add(_ member: Int) { continuation.yield(member) }

    func next() async throws -> Int {
      for await member in stream { return member }
      throw Failed(description: "nobody has opened the outbox")
    }
  }
#endif
