/// Decides what is on the screen: one thing on each surface, the others in line.
///
/// A plain value without clock, lock or stream; its owner tells it the time.
struct PresentationQueueMachine: Sendable {
  /// Tells what says the same from what does not.
  ///
  /// There is only one network to be without, whatever the words. How long to wait changes from one answer to the next.
  private enum Key: Hashable {
    case offline
    case other(Presentation.Surface, Presentation.Message.Topic, title: String, text: String)
  }

  private struct Recent {
    let id: Int
    /// When it went; `nil` while it is in line.
    var gone: Duration?
  }

  private let policy: PresentationQueuePolicy
  private var lines: [Presentation.Surface: [PresentedItem]] = [:]
  /// What is in line, and what went lately.
  private var recent: [Key: Recent] = [:]
  private var lastID = 0

  private(set) var fields: [String: String] = [:]

  init(_ policy: PresentationQueuePolicy) {
    self.policy = policy
  }

  /// What is shown on a surface.
  func current(_ surface: Presentation.Surface) -> PresentedItem? { lines[surface]?.first }

  /// How many wait.
  var waitingCount: Int { lines.values.reduce(0) { $0 + max($1.count - 1, 0) } }

  /// Takes a presentation.
  ///
  /// - Returns: Its id, or that of one that says the same, `nil` if there is nothing to dismiss later; and what was dropped for
  ///   it, or in its place.
  mutating func present(
    _ presentation: Presentation,
    priority: Int,
    now: Duration
  ) -> (id: Int?, dropped: PresentedItem?) {
    recent = recent.filter { $0.value.gone.map { now - $0 < policy.mergeWindow } ?? true }
    if case .inline(let errors) = presentation {
      let placed = errors.compactMap { error in error.field.map { ($0, error.message) } }
      let beside = Dictionary(placed) { "\($0) \($1)" }
      fields.merge(beside) { $1 }
      return (nil, nil)
    }
    guard let surface = presentation.surface, let message = presentation.message else { return (nil, nil) }
    let key: Key =
      message.topic == .offline
      ? .offline : .other(surface, message.topic, title: message.title, text: message.text)
    if let known = recent[key] {
      merge(presentation, priority, into: known.id)
      return (known.id, nil)
    }
    lastID += 1
    let id = lastID
    recent[key] = Recent(id: id)
    add(PresentedItem(id: id, presentation: presentation, priority: priority), to: surface)
    let dropped = dropLast(of: surface)
    return (dropped?.id == id ? nil : id, dropped)
  }

  /// Takes something away.
  ///
  /// - Parameter isAnswered: Whether a person has asked for another try, whose failure is news.
  /// - Returns: What was taken away; `nil` if there is no such thing, or no longer.
  mutating func dismiss(_ id: Int, isAnswered: Bool = false, now: Duration) -> PresentedItem? {
    for (surface, line) in lines {
      guard let index = line.firstIndex(where: { $0.id == id }) else { continue }
      if let key = recent.first(where: { $0.value.id == id })?.key {
        recent[key] = isAnswered ? nil : Recent(id: id, gone: now)
      }
      return lines[surface]?.remove(at: index)
    }
    return nil
  }

  /// Takes away what says that there is no network, and forgets that it was said.
  mutating func networkIsBack() {
    recent[.offline] = nil
    for surface in lines.keys {
      lines[surface]?.removeAll { $0.presentation.message?.topic == .offline }
    }
  }

  /// Takes away what stands beside a field.
  mutating func clear(_ field: String) {
    fields[field] = nil
  }

  /// The latest of what says the same is what is shown, unless it belongs on another surface; as important as the most
  /// important of them.
  private mutating func merge(_ presentation: Presentation, _ priority: Int, into id: Int) {
    for (surface, line) in lines {
      guard let index = line.firstIndex(where: { $0.id == id }) else { continue }
      var item = line[index]
      item.count += 1
      if presentation.surface == surface { item.presentation = presentation }
      let isRaised = priority > item.priority
      item.priority = max(priority, item.priority)
      lines[surface]?[index] = item
      guard isRaised, index > 0 else { continue }
      lines[surface]?.remove(at: index)
      add(item, to: surface)
    }
  }

  /// Behind what is at least as important; what is shown and has to be answered is not taken from under a finger.
  private mutating func add(_ item: PresentedItem, to surface: Presentation.Surface) {
    let line = lines[surface, default: []]
    let isHeld = surface == .alert || surface == .signIn
    let index = line.indices.first { line[$0].priority < item.priority && !(isHeld && $0 == 0) }
    lines[surface, default: []].insert(item, at: index ?? line.count)
  }

  /// Takes the last away if more wait than may; it is news when it comes again.
  ///
  /// - Returns: What was taken away.
  private mutating func dropLast(of surface: Presentation.Surface) -> PresentedItem? {
    guard let line = lines[surface], line.count - 1 > policy.maxWaiting, let last = line.last else { return nil }
    lines[surface]?.removeLast()
    recent = recent.filter { $0.value.id != last.id }
    return last
  }
}

/// Something that is shown, or waits to be.
public struct PresentedItem: Hashable, Sendable, Identifiable {
  /// Tells it from all others, earlier ones included.
  public let id: Int
  /// What is shown and how.
  public internal(set) var presentation: Presentation
  /// What is more important is shown first; the highest of those that were merged into it.
  public internal(set) var priority: Int
  /// How often it came; more than once if others that say the same were merged into it.
  public internal(set) var count = 1

  /// What is shown; `nil` for what stands beside fields.
  public var message: Presentation.Message? { presentation.message }
}
