#if Redis
  import Foundation

  /// What the program is to do, from its arguments: a word, and then `--name value`.
  struct Command {
    struct Misuse: Error, CustomStringConvertible {
      let description: String
    }

    private let word: String
    private let options: [String: String]

    init(_ arguments: ArraySlice<String>) throws {
      word = arguments.first ?? "outage"
      var options: [String: String] = [:]
      var rest = arguments.dropFirst()
      while let name = rest.popFirst() {
        guard name.hasPrefix("--"), let value = rest.popFirst() else { throw Misuse(description: "what is \(name)?") }
        options[String(name.dropFirst(2))] = value
      }
      self.options = options
    }

    func number(_ name: String, _ standard: Int) throws -> Int {
      guard let text = options[name] else { return standard }
      guard let number = Int(text), number > 0 else { throw Misuse(description: "--\(name) is \(text)") }
      return number
    }

    func text(_ name: String) -> String? { options[name] }

    func run() async throws {
      switch word {
      case "limit": try await LimitRun(self).run()
      case "outage": try await OutageRun(self).run()
      case "benchmark": try await DecisionBenchmark(self).run()
      case "refresh": try await RefreshRun(self).run()
      case "budget": try await BudgetRun(self).run()
      case "outbox": try await OutboxRun(self).run()
      case "member": try await Member(self).run()
      case "refresh-member": try await RefreshMember(self).run()
      case "budget-member": try await BudgetMember(self).run()
      case "outbox-member": try await OutboxMember(self).run()
      default: throw Misuse(description: "give outage, limit, refresh, budget, outbox or benchmark, not \(word)")
      }
    }
  }
#else
  struct Command {
    init(_ arguments: ArraySlice<String>) {}

    func run() async throws { say("Built without the trait Redis; call scripts/fleet.") }
  }
#endif
