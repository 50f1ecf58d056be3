import Foundation
import WebServer

/// Tells of an animal, after a while of its own choosing, and fails now and then in one of two ways.
///
/// What happens is drawn from a seed, so that a run can be had again.
final class AnimalService: Sendable {
  private struct Seed: Decodable {
    let seed: UInt64
    let failures: Double?
    let longestDelayMilliseconds: Int?
  }

  private struct SeedReport: Encodable {
    let seed: UInt64
    let failures: Double
    let longestDelayMilliseconds: Int
  }

  /// How the service chooses.
  struct Temper: Equatable {
    var seed: UInt64
    /// Which share of the requests fails, about half of them in each way.
    var failures = 0.4
    var longestDelay = Duration.seconds(5)
  }

  private struct State {
    var temper: Temper
    var chance: Chance
  }

  private enum Fate {
    case animal(Animal, after: Duration)
    case unknown(after: Duration)
    case network(after: Duration)
  }

  private let initial: Temper
  private let state: Locked<State>

  init(_ temper: Temper) {
    initial = temper
    state = Locked(State(temper: temper, chance: Chance(seed: temper.seed)))
  }

  func addRoutes(to router: inout Router) {
    router.on(.get, "/animals/random") { [self] _ in try answer() }
    router.on(.get, "/control/animals") { [self] _ in try report() }
    router.on(.post, "/control/animals") { [self] request in
      let order = try request.decodeJSON(Seed.self)
      let failures = order.failures ?? initial.failures
      let delay = order.longestDelayMilliseconds.map { Duration.milliseconds($0) } ?? initial.longestDelay
      guard (0...1).contains(failures) else { throw HTTPError(400, "failures must be from 0 to 1") }
      guard (.zero ... .seconds(60)).contains(delay) else {
        throw HTTPError(400, "longestDelayMilliseconds must be from 0 to 60000")
      }
      begin(Temper(seed: order.seed, failures: failures, longestDelay: delay))
      return try report()
    }
  }

  /// Begins the draws anew.
  func reset() {
    begin(initial)
  }

  private func begin(_ temper: Temper) {
    state.withLock { $0 = State(temper: temper, chance: Chance(seed: temper.seed)) }
  }

  private func answer() throws -> Response {
    switch state.withLock({ AnimalService.draw(&$0) }) {
    case .animal(let animal, let delay):
      var response = try Response.json(animal)
      response.delay = delay
      return response
    case .unknown(let delay):
      var response = Response.error(500, "The animals got loose")
      response.delay = delay
      return response
    case .network(let delay):
      var response = Response.dropped
      response.delay = delay
      return response
    }
  }

  private static func draw(_ state: inout State) -> Fate {
    let delay = state.temper.longestDelay * Double.random(in: 0...1, using: &state.chance)
    let fails = Double.random(in: 0..<1, using: &state.chance) < state.temper.failures
    let animal = Animal.all.randomElement(using: &state.chance) ?? Animal.all[0]
    let dropsConnection = Bool.random(using: &state.chance)
    guard fails else { return .animal(animal, after: delay) }
    return dropsConnection ? .network(after: delay) : .unknown(after: delay)
  }

  private func report() throws -> Response {
    let temper = state.withLock { $0.temper }
    let (seconds, attoseconds) = temper.longestDelay.components
    return try .json(
      SeedReport(
        seed: temper.seed,
        failures: temper.failures,
        longestDelayMilliseconds: Int(seconds * 1000 + attoseconds / 1_000_000_000_000_000)
      )
    )
  }
}
