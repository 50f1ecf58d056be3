/// Says whether all calls of a history could have taken effect at one moment each, between their beginning and their return.
///
/// If so, whoever uses the object from many tasks can think of it as asked one thing after the other. The search is that of
/// Wing and Gong (1993), with the memory that Lowe has added (2017): of two orders of the same calls that lead to the same
/// state, one is tried.
///
/// - Parameters:
///   - history: What was asked, and what came of it.
///   - model: How the object behaves if it is asked one thing after the other.
/// - Throws: ``NotLinearizable``, with the longest order that was possible and the calls that fit nowhere behind it.
/// - Complexity: O(2ⁿ) in the calls that were under way at once; in practice histories of some hundred calls take
///   milliseconds.
public func requireLinearizable<Model: SequentialModel>(
  _ history: ConcurrentHistory<Model.Operation, Model.Answer>,
  as model: Model
) throws(NotLinearizable) {
  let parts = Dictionary(grouping: history.calls) { model.part(of: $0.operation) }
  // Of several parts that fail, the one that began first is told.
  let inOrder = parts.values.sorted { ($0.first?.began ?? 0) < ($1.first?.began ?? 0) }
  for calls in inOrder {
    var search = LinearizationSearch(model: model, calls: calls)
    if !search.succeeds() { throw NotLinearizable(search.explanation) }
  }
}

/// No order of its calls explains what a history has answered.
public struct NotLinearizable: Error, Hashable, CustomStringConvertible {
  /// The history, and how far an order could be found.
  public let description: String

  init(_ description: String) {
    self.description = description
  }
}

/// Looks for an order of the calls.
private struct LinearizationSearch<Model: SequentialModel> {
  typealias Call = ConcurrentHistory<Model.Operation, Model.Answer>.Call

  /// A beginning or a return, in a list from which the calls that are placed are taken out.
  private struct Event {
    let call: Int
    let isReturn: Bool
    var before = 0
    var after = 0
  }

  private struct Seen: Hashable {
    let placed: [UInt64]
    let state: Model.State
  }

  private let model: Model
  private let calls: [Call]
  /// The first is none, and stands before all others.
  private var events: [Event]
  private var returnOf: [Int]
  private var placed: [UInt64]
  private var order: [Int] = []
  private var longest: [Int] = []

  init(model: Model, calls: [Call]) {
    self.model = model
    self.calls = calls
    placed = [UInt64](repeating: 0, count: calls.count / 64 + 1)
    let ends = calls.enumerated().flatMap { index, call in
      [(call.began, index, false), (call.returned?.moment ?? .max, index, true)]
    }
    events = [Event(call: -1, isReturn: false)]
    returnOf = [Int](repeating: 0, count: calls.count)
    // Those that have not returned come last, each behind its beginning.
    for (_, index, isReturn) in ends.sorted(by: { ($0.0, $0.2 ? 1 : 0, $0.1) < ($1.0, $1.2 ? 1 : 0, $1.1) }) {
      if isReturn { returnOf[index] = events.count }
      events.append(Event(call: index, isReturn: isReturn))
    }
    for index in events.indices {
      events[index].before = index - 1
      events[index].after = index + 1 < events.count ? index + 1 : 0
    }
  }

  mutating func succeeds() -> Bool {
    var state = model.initial
    var seen: Set<Seen> = []
    var trail: [(event: Int, state: Model.State)] = []
    var event = events[0].after
    while event != 0 {
      let call = events[event].call
      if !events[event].isReturn {
        if let next = model.next(state, calls[call].operation, calls[call].returned?.answer) {
          place(call)
          if seen.insert(Seen(placed: placed, state: next)).inserted {
            trail.append((event, state))
            state = next
            takeOut(event)
            event = events[0].after
            continue
          }
          takeBack(call)
        }
        event = events[event].after
        continue
      }
      // What has not returned need not have taken effect, and nothing else is left.
      if calls[call].returned == nil { return true }
      // A call that has returned has no place behind those that were placed: the last of them goes elsewhere.
      guard let last = trail.popLast() else { return false }
      state = last.state
      takeBack(events[last.event].call)
      putBack(last.event)
      event = events[last.event].after
    }
    return true
  }

  private mutating func place(_ call: Int) {
    placed[call / 64] |= 1 << UInt64(call % 64)
    order.append(call)
    if order.count > longest.count { longest = order }
  }

  private mutating func takeBack(_ call: Int) {
    placed[call / 64] &= ~(1 << UInt64(call % 64))
    order.removeLast()
  }

  private mutating func takeOut(_ event: Int) {
    unlink(event)
    unlink(returnOf[events[event].call])
  }

  private mutating func putBack(_ event: Int) {
    link(returnOf[events[event].call])
    link(event)
  }

  private mutating func unlink(_ event: Int) {
    let (before, after) = (events[event].before, events[event].after)
    events[before].after = after
    if after != 0 { events[after].before = before }
  }

  private mutating func link(_ event: Int) {
    let (before, after) = (events[event].before, events[event].after)
    events[before].after = event
    if after != 0 { events[after].before = event }
  }

  /// The calls as lines from their beginning to their return, and where no order goes on.
  var explanation: String {
    let moments = Set(calls.flatMap { [$0.began, $0.returned?.moment].compactMap { $0 } }).sorted()
    let columns = Dictionary(uniqueKeysWithValues: moments.enumerated().map { ($1, $0) })
    let names = calls.map { call in
      "\(call.operation) → " + (call.returned.map { "\($0.answer)" } ?? "not returned")
    }
    let width = names.map(\.count).max() ?? 0
    let lines = zip(calls, names).map { call, name in
      let start = columns[call.began] ?? 0
      let end = call.returned.flatMap { columns[$0.moment] } ?? moments.count
      return name + String(repeating: " ", count: width - name.count + 2) + String(repeating: "·", count: start)
        + String(repeating: "█", count: end - start + 1) + String(repeating: "·", count: max(moments.count - end, 0))
    }
    let missing = calls.indices.filter { !longest.contains($0) && calls[$0].returned != nil }
    return """
      no order of these calls explains their answers:
      \(lines.joined(separator: "\n"))
      possible: \(longest.isEmpty ? "nothing" : longest.map { names[$0] }.joined(separator: ", "))
      but then not: \(missing.map { names[$0] }.joined(separator: "; "))
      """
  }
}
