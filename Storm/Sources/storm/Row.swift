import Rebound
import ReboundStorm

/// A policy as a row of a table: of the ladder, a preset of the package, or the tuned one.
struct Row {
  let name: String
  let play: (Scenario) throws -> Storm

  init(_ name: String, play: @escaping (Scenario) throws -> Storm) {
    (self.name, self.play) = (name, play)
  }

  init(_ name: String, _ settings: PolicySettings) {
    self.name = name
    play = { try settings.play($0, name: name) }
  }

  private init(preset name: String, _ pipeline: @escaping (RandomSource) throws -> Pipeline<Void>) {
    self.name = name
    play = { scenario in try Storm.play(scenario, name: name) { try pipeline($0.random) } }
  }

  static var ladder: [Row] { NamedPolicy.ladder.map { Row($0.name, $0.settings) } }

  static var presets: [Row] {
    [
      Row(preset: "preset http") { try .http("service", random: $0) { _ in true } },
      Row(preset: "preset mobile") { try .mobile("service", random: $0) { _ in true } },
      Row(preset: "preset background") { try .background("service", random: $0) { _ in true } },
    ]
  }
}
