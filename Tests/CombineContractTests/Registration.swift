import Combine
import Testing

/// A publisher and its family; ``departures`` has where it does not do as its family does.
///
/// Unchecked: it is data; its closures capture nothing that changes.
struct Registration: CustomTestStringConvertible, @unchecked Sendable {
  let name: String
  /// The publisher's type as ``publisherTypes`` has it.
  let type: String
  let family: Family
  let inputs: Stage.Inputs
  /// What `$v`, `$0` and `$l` stand for: a value as it comes out, what comes of nothing, what the last value makes.
  let outputs: (passing: String, ofNothing: String?, last: String)
  /// Whether it ends by throwing.
  let throwsAtLast: Bool
  let sideCount: Int
  /// What the subscription calls itself and the labels of its mirror (for a pass-through: the subscriber); nil if it
  /// has no form of its own.
  let looks: (name: String, labels: [String?])?
  /// Laws that mean nothing for this one: it cannot fail, or never holds back.
  let without: Set<Law>
  let attach: (Stage) -> AnyObject
  /// Attaches two subscribers to one publisher.
  let attachTwo: (Stage) -> [AnyObject]
  /// How the publisher itself describes itself; nil if it leaves that to Swift.
  let looksOfPublisher: (Stage) -> Looks?

  var testDescription: String { name }

  init<P: Publisher>(
    _ name: String,
    _ family: Family,
    as looks: String?,
    _ labels: [String?] = [],
    sides sideCount: Int = 1,
    gives passing: String = "1",
    ofNothing: String? = "",
    passing input: Int = 1,
    skips: Int? = nil,
    endsAt last: Int? = nil,
    with lastOutput: String = "",
    throwing throwsAtLast: Bool = false,
    fails: Bool = true,
    without: Set<Law> = [],
    connecting connect: @escaping (P) -> (any Cancellable)? = { _ in nil },
    _ build: @escaping (Stage) -> P
  ) {
    self.name = name
    type = Self.plainName(of: P.self)
    self.family = family
    self.sideCount = sideCount
    inputs = Stage.Inputs(passing: input, skipped: skips, last: last)
    outputs = (passing, ofNothing, lastOutput)
    self.throwsAtLast = throwsAtLast
    self.looks = looks.map { ($0, labels) }
    self.without = without.union(fails ? [] : Law.allCases.filter(\.fails))
      .union(skips == nil ? [.skippedValue] : [])
      .union(last == nil ? [.ownEnd] : [])
    looksOfPublisher = { Looks(ofOwn: build($0)) }
    attach = { stage in
      let publisher = build(stage)
      let spectator = stage.attach(publisher)
      stage.keep(publisher, connect(publisher))
      return spectator
    }
    attachTwo = { stage in
      let publisher = build(stage)
      return (0..<2).map { _ in stage.attach(publisher) }
    }
  }

  /// A subscriber, which has an upstream and nobody downstream.
  init(
    subscriber name: String,
    _ family: Family,
    as looks: String,
    _ labels: [String?] = [],
    fails: Bool = true,
    cancels: Bool = true,
    _ make: @escaping (Stage) -> (AnySubscriber<Int, ContractFailure>, shown: Any, cancel: () -> Void)
  ) {
    self.name = name
    self.family = family
    type = ""
    inputs = Stage.Inputs()
    outputs = ("1", nil, "")
    throwsAtLast = false
    sideCount = 1
    self.looks = (looks, labels)
    without = Set(Law.allCases.filter { $0.fails && !fails || $0.cancels && !cancels })
    looksOfPublisher = { _ in nil }
    attach = { stage in
      let (subscriber, shown, cancel) = make(stage)
      stage.place(subscriber, as: shown, cancelling: cancel)
      return stage
    }
    attachTwo = { _ in [] }
  }

  /// The log that a law asks for; nil if it means nothing here.
  func outcome(of law: Law) -> String? {
    guard !without.contains(law), var template = departures[name]?.outcomes[law] ?? family.outcomes[law] else {
      return nil
    }
    if law == .ownEnd, throwsAtLast {
      template = template.replacing("value:$l end", with: "error").replacing(" end ", with: " error ")
    }
    return expanded(template)
  }

  /// An outcome of the tables as the log of this publisher would have it.
  func expanded(_ template: String) -> String {
    template.split(separator: " ")
      .flatMap(written)
      .filter { !$0.isEmpty && !($0 == "value:$0" && outputs.ofNothing == nil) }
      .joined(separator: " ")
      .replacing("$v", with: outputs.passing)
      .replacing("$0", with: outputs.ofNothing ?? "")
      .replacing("$l", with: outputs.last)
  }

  /// Writes a word out for the upstreams that it is meant for.
  private func written(_ word: Substring) -> [String] {
    var sides = 0..<1
    var rest = word
    if word.hasPrefix("*") {
      (sides, rest) = (0..<sideCount, word.dropFirst())
    } else if word.hasPrefix("-") {
      (sides, rest) = (0..<sideCount - 1, word.dropFirst())
    } else if word.hasPrefix("~") {
      (sides, rest) = (sideCount - 1..<sideCount, word.dropFirst())
    } else if let first = word.first?.wholeNumberValue, word.dropFirst().hasPrefix("+") {
      (sides, rest) = (min(first, sideCount)..<sideCount, word.dropFirst(2))
    } else if let only = word.first?.wholeNumberValue, word.dropFirst().hasPrefix("=") {
      (sides, rest) = (min(only, sideCount)..<min(only + 1, sideCount), word.dropFirst(2))
    }
    return sides.flatMap { side in
      rest.split(separator: "/")
        .map { $0 + ($0.hasPrefix("value") ? "" : String(repeating: "'", count: side)) }
    }
  }

  /// Plays a law's scenario.
  func log(of law: Law) -> String {
    let stage = Stage(law.reactions)
    stage.inputs = inputs
    let spectator = attach(stage)
    for step in law.steps { stage.perform(step) }
    let log = stage.log.joined(separator: " ")
    stage.close()
    withExtendedLifetime((stage, spectator)) {}
    return log
  }

  /// Without module, generic arguments and the note where an extension comes from: `Publishers.Map`.
  static func plainName(of type: Any.Type) -> String {
    var depth = 0
    let bare = String(reflecting: type)
      .filter { character in
        if character == "<" || character == "(" { depth += 1 }
        defer { if character == ">" || character == ")" { depth -= 1 } }
        return depth == 0
      }
    let path = bare.split(separator: ":").last ?? ""
    return path.split(separator: ".").dropFirst().joined(separator: ".")
  }
}
