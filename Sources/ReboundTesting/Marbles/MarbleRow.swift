/// One row of a marble diagram, taken apart: what stands in each frame.
struct MarbleRow {
  enum Mark: Hashable {
    case value(Character)
    case finish
    case failure
    case subscription
    case cancel

    var character: Character {
      switch self {
      case .value(let name): name
      case .finish: "|"
      case .failure: "#"
      case .subscription: "^"
      case .cancel: "!"
      }
    }
  }

  /// One mark of the row: in which frame it is, and where it stands in the text.
  struct Place {
    let frame: Int
    let mark: Mark
    let column: Int
  }

  let text: String
  /// What stands in the row, in order.
  let places: [Place]
  /// What stands in each frame; nothing for `-`, several marks for a group.
  let frames: [[Mark]]

  /// The frame of `^`, which is time zero; the first without one.
  var zero: Int { frames.firstIndex { $0.contains(.subscription) } ?? 0 }

  /// Takes a row apart.
  ///
  /// Spaces, and whatever else leaves a space, stand for nothing: they let rows with groups stand one above the other.
  init(_ text: String) throws(MarbleSyntaxError) {
    var frames: [[Mark]] = []
    var places: [Place] = []
    var group: (marks: [Mark], column: Int)?
    for (column, character) in text.enumerated() {
      switch character {
      case _ where character.isWhitespace: continue
      case "(":
        if group != nil { throw MarbleSyntaxError(text, column, "a group inside a group. End the first one with ')'.") }
        group = ([], column)
      case ")":
        guard let ended = group else { throw MarbleSyntaxError(text, column, "the end of a group that has no '('.") }
        if ended.marks.isEmpty { throw MarbleSyntaxError(text, column, "an empty group. Put '-' in its place.") }
        frames.append(ended.marks)
        group = nil
      case "-":
        if group != nil {
          throw MarbleSyntaxError(text, column, "'-' in a group, which is all one frame. Leave it out.")
        }
        frames.append([])
      default:
        let mark = Self.mark(character)
        if mark == .subscription, places.contains(where: { $0.mark == mark }) {
          throw MarbleSyntaxError(text, column, "a second '^' in a row. Leave one.")
        }
        places.append(Place(frame: frames.count, mark: mark, column: column))
        if group != nil { group?.marks.append(mark) } else { frames.append([mark]) }
      }
    }
    if let group { throw MarbleSyntaxError(text, group.column, "a group that does not end. Add ')'.") }
    (self.text, self.places, self.frames) = (text, places, frames)
  }

  private static func mark(_ character: Character) -> Mark {
    switch character {
    case "|": .finish
    case "#": .failure
    case "^": .subscription
    case "!": .cancel
    default: .value(character)
    }
  }

  /// Refuses marks that mean nothing in this row.
  func refuse(_ marks: Set<Mark>, _ reason: String) throws(MarbleSyntaxError) {
    for (column, character) in text.enumerated() where marks.contains(Self.mark(character)) {
      throw MarbleSyntaxError(text, column, reason)
    }
  }

  /// The row again, without the frames at the end in which nothing happens.
  var trimmedFrames: [[Mark]] {
    Array(frames.prefix((frames.lastIndex { !$0.isEmpty } ?? -1) + 1))
  }

  /// What stands in one frame, as text.
  static func cell(_ marks: [Mark]) -> String {
    switch marks.count {
    case 0: "-"
    case 1: String(marks[0].character)
    default: "(" + String(marks.map(\.character)) + ")"
    }
  }
}

/// A row of a marble diagram that makes no sense.
public struct MarbleSyntaxError: Error, Hashable {
  /// The row.
  public let row: String
  /// The character that makes no sense, from 0.
  public let column: Int
  /// What is wrong, and what to write instead.
  public let problem: String

  init(_ row: String, _ column: Int, _ problem: String) {
    self.row = row
    self.column = column
    self.problem = problem
  }
}

extension MarbleSyntaxError: CustomStringConvertible {
  /// What is wrong, above the row with a mark under the place.
  public var description: String {
    // One line, as wide as it has characters.
    """
    Marble diagram: \(problem)
      \(String(row.map { $0.isWhitespace ? " " : $0 }))
      \(String(repeating: " ", count: column))^
    """
  }
}
