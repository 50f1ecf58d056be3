import Testing

/// A cell of the tables that says `traps`.
struct Trap: Codable, Sendable, CustomTestStringConvertible {
  let name: String
  let law: Law

  init(_ name: String, _ law: Law) {
    self.name = name
    self.law = law
  }

  var testDescription: String { "\(name): \(law.rawValue)" }
}

extension Registration {
  static let traps: [Trap] = {
    var seen: Set<String> = []
    return all.flatMap { registration in
      Law.allCases.filter { law in
        registration.outcome(of: law) == "traps"
          && (law == .requestNone || departures[registration.name]?.outcomes[law] != nil
            || seen.insert("\(registration.family.name) \(law)").inserted)
      }
      .map { Trap(registration.name, $0) }
    }
  }()
}
