/// Says in lines what differs between two values, by what they are made of.
///
///     StateDiff.lines(from: before, to: after)   // ["animals.current: \"Cat\" → \"Dog\""]
///
/// It looks into structures, tuples, enumerations, collections and objects, with what they inherit, and compares what is
/// left by its description. What describes itself (`CustomStringConvertible`) and does not say what it is made of
/// (`CustomReflectable`) is never looked into: what its description hides stays hidden. It reads the values only.
public enum StateDiff {
  /// The differences, one in each line; none if there are none.
  ///
  /// `path: before → after` is a change, `+ path: value` something new, `- path: value` something that is gone. A change
  /// that the description does not tell is `path: changed`.
  ///
  /// - Complexity: O(n) in what the values are made of. An object is compared once, and again only where a shorter way leads
  ///   to it. Beyond a depth of 16 values count as their description.
  public static func lines(from before: Any, to after: Any) -> [String] {
    var comparison = Comparison()
    comparison.compare(before, after, path: "", depth: 0)
    return comparison.lines
  }
}

/// What has been found out about two values.
private struct Comparison {
  private static let maximumDepth = 16

  /// Two objects, kept so that no other one can take the place of one that is made for its mirror only.
  private struct Pair: Hashable {
    let before: AnyObject
    let after: AnyObject
    let isInside: Bool

    static func == (one: Pair, other: Pair) -> Bool {
      one.before === other.before && one.after === other.after && one.isInside == other.isInside
    }

    func hash(into hasher: inout Hasher) {
      hasher.combine(ObjectIdentifier(before))
      hasher.combine(ObjectIdentifier(after))
    }
  }

  private(set) var lines: [String] = []
  /// The objects that were compared, with the depth: nearer to the top there is more of them to see.
  private var depths: [Pair: Int] = [:]
  /// Whether this is inside of something that describes itself, to know whether it has changed; nothing of it is shown.
  private var isInside = false

  mutating func compare(_ before: Any, _ after: Any, path: String, depth: Int) {
    let (old, new) = (Mirror(reflecting: before), Mirror(reflecting: after))
    guard depth < Self.maximumDepth, old.subjectType == new.subjectType, old.displayStyle == new.displayStyle else {
      change(before, after, path)
      return
    }
    if type(of: before) is AnyClass, !isNew(before as AnyObject, after as AnyObject, depth) { return }
    switch old.displayStyle {
    case .optional, .tuple:
      compareFields(before, after, old, new, path, depth)
    case .collection:
      compareElements(Array(old.children), Array(new.children), path, depth)
    case .dictionary:
      compareKeyed(pairs(of: old), pairs(of: new), path, depth)
    case .set:
      let (gone, come) = (Set(old.children.map { text($0.value) }), Set(new.children.map { text($0.value) }))
      lines += gone.subtracting(come).sorted().map { "- \(path): \($0)" }
      lines += come.subtracting(gone).sorted().map { "+ \(path): \($0)" }
    default:
      if describesItself(before) {
        compareDescriptions(before, after, old, new, path, depth)
      } else {
        compareFields(before, after, old, new, path, depth)
      }
    }
  }

  /// Whether two objects are to be compared: not one with itself, and not again.
  private mutating func isNew(_ before: AnyObject, _ after: AnyObject, _ depth: Int) -> Bool {
    guard before !== after else { return false }
    let pair = Pair(before: before, after: after, isInside: isInside)
    if let known = depths[pair], known <= depth { return false }
    depths[pair] = depth
    return true
  }

  private func describesItself(_ value: Any) -> Bool {
    (value is any CustomStringConvertible || value is any CustomDebugStringConvertible)
      && !(value is any CustomReflectable)
  }

  private mutating func compareDescriptions(
    _ before: Any,
    _ after: Any,
    _ old: Mirror,
    _ new: Mirror,
    _ path: String,
    _ depth: Int
  ) {
    guard !change(before, after, path), !fields(of: old).isEmpty else { return }
    let (said, wasInside) = (lines.count, isInside)
    isInside = true
    compareFields(before, after, old, new, path, depth)
    isInside = wasInside
    guard !isInside, lines.count > said else { return }
    lines.removeSubrange(said...)
    lines.append(path.isEmpty ? "changed" : "\(path): changed")
  }

  private mutating func compareFields(
    _ before: Any,
    _ after: Any,
    _ old: Mirror,
    _ new: Mirror,
    _ path: String,
    _ depth: Int
  ) {
    let (oldFields, newFields) = (fields(of: old), fields(of: new))
    let isSameForm = oldFields.map(\.label) == newFields.map(\.label)
    guard isSameForm, !oldFields.isEmpty else {
      change(before, after, path)
      return
    }
    let isOptional = old.displayStyle == .optional
    for (index, (oldField, newField)) in zip(oldFields, newFields).enumerated() {
      let label = oldField.label ?? "\(index)"
      // A case with one value shows the case itself; an optional shows its value as if it stood there itself.
      let inner = isOptional ? path : join(path, label)
      compare(oldField.value, newField.value, path: inner, depth: depth + 1)
    }
  }

  private mutating func compareElements(
    _ old: [Mirror.Child],
    _ new: [Mirror.Child],
    _ path: String,
    _ depth: Int
  ) {
    for index in 0..<max(old.count, new.count) {
      let place = "\(path)[\(index)]"
      if index >= new.count {
        lines.append("- \(place): \(text(old[index].value))")
      } else if index >= old.count {
        lines.append("+ \(place): \(text(new[index].value))")
      } else {
        compare(old[index].value, new[index].value, path: place, depth: depth + 1)
      }
    }
  }

  private mutating func compareKeyed(
    _ old: [String: Any],
    _ new: [String: Any],
    _ path: String,
    _ depth: Int
  ) {
    for key in Set(old.keys).union(new.keys).sorted() {
      let place = "\(path)[\(key)]"
      switch (old[key], new[key]) {
      case (let gone?, nil): lines.append("- \(place): \(text(gone))")
      case (nil, let come?): lines.append("+ \(place): \(text(come))")
      case (let before?, let after?): compare(before, after, path: place, depth: depth + 1)
      case (nil, nil): break
      }
    }
  }

  /// What a value is made of, what it inherits first.
  private func fields(of whole: Mirror) -> [Mirror.Child] {
    var all: [Mirror.Child] = []
    for mirror in sequence(first: whole, next: \.superclassMirror) {
      all.insert(contentsOf: mirror.children, at: 0)
    }
    return all
  }

  private func pairs(of dictionary: Mirror) -> [String: Any] {
    dictionary.children.reduce(into: [:]) { pairs, child in
      let pair = Array(Mirror(reflecting: child.value).children)
      if pair.count == 2 { pairs[text(pair[0].value)] = pair[1].value }
    }
  }

  /// Compares by the descriptions alone.
  ///
  /// - Returns: Whether they differ.
  @discardableResult
  private mutating func change(_ before: Any, _ after: Any, _ path: String) -> Bool {
    let (old, new) = (text(before), text(after))
    guard old != new else { return false }
    lines.append(path.isEmpty ? "\(old) → \(new)" : "\(path): \(old) → \(new)")
    return true
  }

  /// A value in one line: text in quotation marks, `nil` as such, an optional as its value.
  private func text(_ value: Any) -> String {
    let mirror = Mirror(reflecting: value)
    if mirror.displayStyle == .optional { return mirror.children.first.map { text($0.value) } ?? "nil" }
    return value is String ? String(reflecting: value) : String(describing: value)
  }

  private func join(_ path: String, _ label: String) -> String {
    path.isEmpty ? label : "\(path).\(label)"
  }
}
