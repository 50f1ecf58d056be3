import Foundation
import StreamSupport

/// What happened in a store, as a file that can be taken to another machine: all actions, those of effects included.
///
///     let file = try store.session(redacting: { $0.withoutPassword }).json()
///     let session = try Session<AppAction>(json: file)
///     session.state(from: AppState(), reducer: appReducer)
///
/// The outcomes of effects are actions, too, so a session replays to the same state without network, clock or chance.
/// What a reducer reads from anywhere but its state and action is not in the session.
public struct Session<Action> {
  /// One action.
  public struct Entry {
    /// The action.
    public let action: Action
    /// Where it came from.
    public let origin: ActionOrigin

    /// Describes one action.
    public init(action: Action, origin: ActionOrigin = .sent) {
      self.action = action
      self.origin = origin
    }
  }

  /// The actions, in order.
  public let entries: [Entry]

  /// Makes a session of actions.
  public init(entries: [Entry]) {
    self.entries = entries
  }

  /// The state that these actions lead to.
  public func state<State>(from initialState: State, reducer: Reducer<State, Action>) -> State {
    entries.reduce(into: initialState) { reducer(&$0, $1.action) }
  }
}

extension Session.Entry: Equatable where Action: Equatable {}
extension Session: Equatable where Action: Equatable {}
extension Session.Entry: Sendable where Action: Sendable {}
extension Session: Sendable where Action: Sendable {}
extension Session.Entry: Codable where Action: Codable {}

extension Session: Codable where Action: Codable {
  private enum Key: String, CodingKey {
    case version, entries
  }

  /// The version of the form in which sessions are written.
  private static var version: Int { 1 }

  /// Reads a session.
  ///
  /// - Throws: ``InvalidSession`` if it was written in a form that is not known; what the decoder throws for the rest.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    let version = try container.decode(Int.self, forKey: .version)
    guard version == Self.version else { throw InvalidSession.unknownVersion(version) }
    entries = try container.decode([Entry].self, forKey: .entries)
  }

  /// Writes a session.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(Self.version, forKey: .version)
    try container.encode(entries, forKey: .entries)
  }

  /// The session as a file: JSON, one key below the other, the same for the same actions.
  ///
  /// - Throws: ``InvalidSession`` if an action can't be written.
  public func json() throws(InvalidSession) -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    do {
      return try encoder.encode(self)
    } catch {
      throw .unwritable("\(error)")
    }
  }

  /// Reads the session from a file that ``json()`` has made.
  ///
  /// - Throws: ``InvalidSession``, with the place at which it can't be read.
  public init(json: Data) throws(InvalidSession) {
    do {
      self = try JSONDecoder().decode(Session.self, from: json)
    } catch let error as InvalidSession {
      throw error
    } catch let error as DecodingError {
      throw InvalidSession(error)
    } catch {
      throw .unreadable(at: "", reason: "\(error)")
    }
  }
}

/// Why a session can't be written or read.
public enum InvalidSession: Error, Hashable, Sendable {
  /// The store was made without a history.
  case noHistory
  /// So many actions at the beginning were forgotten, as the history's policy says.
  case beginningForgotten(Int)
  /// An action can't be encoded.
  case unwritable(String)
  /// The file is not a session of these actions; the place is a path of keys.
  case unreadable(at: String, reason: String)
  /// The file was written in a form that this version does not know.
  case unknownVersion(Int)

  fileprivate init(_ error: DecodingError) {
    let context: DecodingError.Context? =
      switch error {
      case .typeMismatch(_, let context), .valueNotFound(_, let context), .keyNotFound(_, let context),
        .dataCorrupted(let context):
        context
      @unknown default: nil
      }
    let path = context?.codingPath.map { $0.intValue.map { "[\($0)]" } ?? $0.stringValue }.joined(separator: ".")
    self = .unreadable(at: path ?? "", reason: context?.debugDescription ?? "\(error)")
  }
}

extension InvalidSession: CustomStringConvertible {
  /// What happened, and what to do next.
  public var description: String {
    switch self {
    case .unwritable(let reason): "An action can't be written as JSON: \(reason.sentence) \(advice)"
    case .unreadable(let path, let reason):
      "The file is no session of this program\(path.isEmpty ? "" : ", at \(path)"): \(reason.sentence) \(advice)"
    case .noHistory, .beginningForgotten, .unknownVersion: "\(words) \(advice)"
    }
  }
}

extension InvalidSession: LocalizedError {
  /// What happened, for people.
  public var errorDescription: String? { words }
  /// What to do next, for people.
  public var recoverySuggestion: String? { advice }

  private var words: String {
    switch self {
    case .noHistory: "The store keeps no history."
    case .beginningForgotten(1): "The first action was forgotten, so the session would not replay."
    case .beginningForgotten(let count):
      "The first \(count) actions were forgotten, so the session would not replay."
    case .unwritable: "An action can't be written as JSON."
    case .unreadable: "The file is no session of this program."
    case .unknownVersion(let version): "The session was written by another version (form \(version))."
    }
  }

  private var advice: String {
    switch self {
    case .noHistory: "Make it with `history: .all` to export a session."
    case .beginningForgotten: "Make the store with a higher limit."
    case .unwritable: "Look at how its type is encoded."
    case .unreadable: "Give one that this program has exported."
    case .unknownVersion: "Replay it with the program that wrote it."
    }
  }
}
