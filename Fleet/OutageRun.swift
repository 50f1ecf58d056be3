#if Redis
  import Foundation

  /// An outage of a service, and worse: what ten processes do to it with policies of their own, and with shared ones.
  struct OutageRun {
    private let instances: Int
    private let rate: Int
    private let port: Int
    private let results: String?

    private static let length = 22
    /// What happens, in seconds from the start.
    private static let broken = 3...6
    private static let down = 8...11
    private static let killed = 14
    private static let frozen = 16...18

    init(_ command: Command) throws {
      instances = try command.number("instances", 10)
      rate = try command.number("rate", 500)
      port = try command.number("port", 7413)
      results = command.text("results")
    }

    private struct Outcome {
      var load: [Int] = []
      var successes: [Int] = []
      var openings: [(member: Int, second: Double)] = []
    }

    func run() async throws {
      say("\(instances) processes of unequal load ask for \(rate * 2) calls per second, and \(rate) may be made.")
      say("At \(Self.broken.lowerBound) s the network of one is broken, at \(Self.down.lowerBound) s the service is down,")
      say("at \(Self.killed) s two processes are killed, at \(Self.frozen.lowerBound) s the fleet's server is frozen.")
      say("")
      let fleet = try await outcome(local: false)
      let local = try await outcome(local: true)
      say("                                             fleet    local")
      row("calls to the service, all") { $0.load.reduce(0, +) }
      row("most in a second") { $0.load.max() ?? 0 }
      row("beyond the limit") { $0.load.reduce(0) { $0 + max($1 - rate, 0) } }
      row("calls while the service was down") { $0.load[Self.down.lowerBound..<Self.down.upperBound].reduce(0, +) }
      row("wrong openings, of others' breakers") { outcome in
        outcome.openings.count { $0.member != 0 && !isSick($0.second) }
      }
      row("until all had given the service up, ms") { outcome in
        let opened = Dictionary(
          outcome.openings.filter { isSick($0.second) }.map { ($0.member, $0.second) },
          uniquingKeysWith: min
        )
        guard opened.count == instances else { return nil }
        return opened.values.max().map { Int(($0 - Double(Self.down.lowerBound)) * 1_000) }
      }
      row("until the service was used again, s") { outcome in
        let before = outcome.successes[5..<Self.down.lowerBound].reduce(0, +) / 3
        return outcome.successes[Self.down.upperBound...].firstIndex { $0 * 10 >= before * 8 }.map {
          $0 - Self.down.upperBound
        }
      }
      if let results { try draw(fleet, local, into: results) }

      func row(_ name: String, _ value: (Outcome) -> Int?) {
        let numbers = [fleet, local].map { value($0).map(String.init) ?? "never" }
        let padded = name.padding(toLength: 42, withPad: " ", startingAt: 0)
        say(padded + numbers.map { String(repeating: " ", count: max(8 - $0.count, 1)) + $0 }.joined(separator: " "))
      }
    }

    /// From when the service is down to when the last of those who have noticed may have.
    private func isSick(_ second: Double) -> Bool {
      second >= Double(Self.down.lowerBound) && second <= Double(Self.down.upperBound) + 2
    }

    private func outcome(local: Bool) async throws -> Outcome {
      let (server, service) = (try await Server(port: port), try await Server(port: port + 1))
      let arguments = ["--port", "\(port)", "--service", "\(port + 1)", "--rate", "\(rate)", "--broken", "\(instances)"]
      let start = milliseconds
      let members = try startMembers(instances, arguments + ["--policies", local ? "local" : "fleet"])
      let stage = local ? "[2/2] policies of each process" : "[1/2] shared policies"
      var second = 0
      func wait(until next: Int, _ event: String) async throws {
        note("\(stage), \(second) of \(Self.length) s: \(event)")
        try await pause(Double(start + next * 1_000 - milliseconds) / 1_000)
        second = next
      }
      try await wait(until: Self.broken.lowerBound, "all is well")
      try await wait(until: Self.broken.upperBound, "the network of one is broken")
      try await wait(until: Self.down.lowerBound, "all is well")
      service.kill()
      try await wait(until: Self.down.upperBound, "the service is down")
      try await service.start()
      try await wait(until: Self.killed, "the service is back")
      for member in members.prefix(2) { member.kill() }
      try await wait(until: Self.frozen.lowerBound, "two processes are killed")
      server.signal(SIGSTOP)
      try await wait(until: Self.frozen.upperBound, "the fleet's server is frozen")
      server.signal(SIGCONT)
      try await wait(until: Self.length, "the fleet's server goes on")
      for member in members.dropFirst(2) { member.kill() }
      service.kill()
      server.kill()
      var outcome = Outcome(
        load: [Int](repeating: 0, count: Self.length + 1),
        successes: [Int](repeating: 0, count: Self.length + 1)
      )
      for (number, member) in members.enumerated() {
        for line in member.lines {
          let words = line.split(separator: " ")
          let numbers = words.dropFirst().compactMap { Int($0) }
          guard let moment = numbers.first else { continue }
          let second = Double(moment - start) / 1_000
          if words[0] == "opens" {
            // The one with the broken network is the last; it counts as member zero.
            outcome.openings.append((number == instances - 1 ? 0 : number + 1, second))
          } else if numbers.count == 3 {
            let index = min(max(Int(second), 0), Self.length)
            outcome.load[index] += numbers[1]
            outcome.successes[index] += numbers[2]
          }
        }
      }
      return outcome
    }

    private func draw(_ fleet: Outcome, _ local: Outcome, into folder: String) throws {
      let most = Double(max((fleet.load + local.load).max() ?? 1, rate))
      func height(_ load: Int) -> Double { 260 - 220 * Double(load) / most }
      func line(_ outcome: Outcome, _ colour: String) -> String {
        let points = outcome.load.enumerated().map { "\(50 + $0 * 25),\(String(format: "%.1f", height($1)))" }
        return "<polyline fill='none' stroke='\(colour)' stroke-width='2' points='\(points.joined(separator: " "))'/>"
      }
      func band(_ range: ClosedRange<Int>, _ name: String) -> String {
        let (left, width) = (50 + range.lowerBound * 25, (range.upperBound - range.lowerBound) * 25)
        return "<rect x='\(left)' y='30' width='\(width)' height='230' fill='#eee'/>"
          + "<text x='\(left + 3)' y='44' fill='#666'>\(name)</text>"
      }
      let picture = """
        <svg xmlns='http://www.w3.org/2000/svg' width='660' height='300' font-family='sans-serif' font-size='11'>
        <rect width='660' height='300' fill='white'/>
        \(band(Self.broken, "one is cut off"))\(band(Self.down, "service down"))\(band(Self.frozen, "Redis frozen"))
        <line x1='50' x2='600' y1='\(height(rate))' y2='\(height(rate))' stroke='#c00' stroke-dasharray='4'/>
        <text x='604' y='\(height(rate) + 4)' fill='#c00'>limit</text>
        \(line(local, "#e08000"))\(line(fleet, "#0060c0"))
        <text x='50' y='20'>calls to the service in each second; \
        <tspan fill='#0060c0'>shared policies</tspan>, <tspan fill='#e08000'>policies of each process</tspan></text>
        <text x='50' y='285'>seconds: 0 … \(Self.length)</text>
        </svg>
        """
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      try picture.write(toFile: folder + "/outage.svg", atomically: true, encoding: .utf8)
    }
  }
#endif
