/// Says in lines what differs between two values, by what they are made of.
///
///     StateDiff.lines(from: before, to: after)   // ["animals.current: \"Cat\" → \"Dog\""]
///
/// It looks into structures, tuples, enumerations, collections and objects, with what they inherit, and compares what is
/// left by its description. What describes itself (`CustomStringConvertible`) and does not say what it is made of
/// (`CustomReflectable`) is never looked into: what its description hides stays hidden, also where it is a part of what is
/// written. It reads the values only.
public enum StateDiff {
  /// The differences, one in each line; none if there are none.
  ///
  /// `path: before → after` is a change, `+ path: value` something new, `- path: value` something that is gone. A change
  /// that the description does not tell is `path: changed`.
  ///
  /// - Complexity: O(n) in what the values are made of. An object is compared once, and again only where a shorter way leads
  ///   to it. Beyond a depth of 16 values count as their description.
  public static func lines(from before: Any, to after: Any) -> [String] {
    differences(from: before, to: after).map(\.line)
  }

  /// The differences, with where they are.
  package static func differences(from before: Any, to after: Any) -> [Difference] {
    var comparison = Comparison()
    comparison.compareAll(before, after)
    return comparison.found
  }

  /// A difference in a line.
  package struct Difference: Sendable {
    /// What has changed; a list, for what has come to it or gone from it.
    package let path: String
    /// What it is, with the path.
    package let line: String

    /// Whether they are about the same, or one about a part of what the other is about.
    package func meets(_ other: Difference) -> Bool { isWithin(other) || other.isWithin(self) }

    private func isWithin(_ other: Difference) -> Bool {
      guard path.hasPrefix(other.path), !other.path.isEmpty else { return other.path.isEmpty }
      return path.dropFirst(other.path.count).first.map { ".[".contains($0) } ?? true
    }
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

  /// Two values, what they are made of, and where they are.
  private struct ValuePair {
    let before: Any
    let after: Any
    let path: String
    let depth: Int
    let old: Mirror
    let new: Mirror

    init(_ before: Any, _ after: Any, path: String, depth: Int) {
      (self.before, self.after, self.path, self.depth) = (before, after, path, depth)
      (old, new) = (Mirror(reflecting: before), Mirror(reflecting: after))
    }
  }

  /// A key, or an element of a set: two that are described alike need not be the same.
  private struct Key: Hashable {
    let value: AnyHashable?
    let text: String
  }

  private(set) var found: [StateDiff.Difference] = []
  /// The objects that were compared, with the depth: nearer to the top there is more of them to see.
  private var depths: [Pair: Int] = [:]
  /// Whether this is inside of something that describes itself, to know whether it has changed; nothing of it is shown.
  private var isInside = false

  mutating func compareAll(_ before: Any, _ after: Any) {
    compare(before, after, path: "", depth: 0)
    if found.isEmpty, areEqual(before, after) == false { tellChange(of: "") }
  }

  private mutating func compare(_ before: Any, _ after: Any, path: String, depth: Int) {
    let both = ValuePair(before, after, path: path, depth: depth)
    let (old, new) = (both.old, both.new)
    guard old.subjectType == new.subjectType, old.displayStyle == new.displayStyle else {
      if !change(before, after, path) { tellChange(of: path) }
      return
    }
    guard depth < Self.maximumDepth else {
      change(before, after, path)
      return
    }
    if type(of: before) is AnyClass, !isNew(before as AnyObject, after as AnyObject, depth) { return }
    switch old.displayStyle {
    case .optional, .tuple:
      compareFields(both)
    case .collection:
      compareElements(Array(old.children), Array(new.children), path, depth)
    case .dictionary:
      compareKeyed(pairs(of: old), pairs(of: new), path, depth)
    case .set:
      let (gone, come) = (Set(old.children.map { key($0.value) }), Set(new.children.map { key($0.value) }))
      exchange(gone.subtracting(come).map(\.text), come.subtracting(gone).map(\.text), path)
    default:
      if before is any CustomReflectable {
        compareMirrors(both)
      } else if ValueText.isOwn(of: before) {
        compareDescriptions(both)
      } else {
        compareFields(both)
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

  /// Whether two values are equal as they see it; `nil` if they do not say.
  private func areEqual(_ before: Any, _ after: Any) -> Bool? {
    guard let before = before as? any Equatable else { return nil }
    if before.isEqual(to: after) { return true }
    // A number that is none is not even equal to itself.
    return before.isEqual(to: before) ? false : nil
  }

  /// What says what it is made of may say more than makes a difference, such as where its bytes are, and less.
  private mutating func compareMirrors(_ both: ValuePair) {
    if areEqual(both.before, both.after) == true, ValueText.of(both.before) == ValueText.of(both.after) { return }
    let said = found.count
    compareFields(both)
    if found.count == said { change(both.before, both.after, both.path) }
  }

  private mutating func compareDescriptions(_ both: ValuePair) {
    let (before, after) = (both.before, both.after)
    guard !change(before, after, both.path), areEqual(before, after) == nil, !fields(of: both.old).isEmpty else {
      return
    }
    let (said, wasInside) = (found.count, isInside)
    isInside = true
    compareFields(both)
    isInside = wasInside
    guard !isInside, found.count > said else { return }
    found.removeSubrange(said...)
    tellChange(of: both.path)
  }

  private mutating func compareFields(_ both: ValuePair) {
    let path = both.path
    let (oldFields, newFields) = (fields(of: both.old), fields(of: both.new))
    let isSameForm = oldFields.map(\.label) == newFields.map(\.label)
    guard isSameForm, !oldFields.isEmpty else {
      if !change(both.before, both.after, path), !isSameForm { tellChange(of: path) }
      return
    }
    let isOptional = both.old.displayStyle == .optional
    for (index, (oldField, newField)) in zip(oldFields, newFields).enumerated() {
      let label = oldField.label ?? "\(index)"
      // A case with one value shows the case itself; an optional shows its value as if it stood there itself.
      let inner = isOptional ? path : join(path, label)
      compare(oldField.value, newField.value, path: inner, depth: both.depth + 1)
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
        tell("- \(place): \(ValueText.of(old[index].value))", of: path)
      } else if index >= old.count {
        tell("+ \(place): \(ValueText.of(new[index].value))", of: path)
      } else {
        compare(old[index].value, new[index].value, path: place, depth: depth + 1)
      }
    }
  }

  private mutating func compareKeyed(
    _ old: [Key: Any],
    _ new: [Key: Any],
    _ path: String,
    _ depth: Int
  ) {
    let keys = Dictionary(grouping: Set(old.keys).union(new.keys), by: \.text)
    for (name, keys) in keys.sorted(by: { $0.key < $1.key }) {
      let place = "\(path)[\(name)]"
      var (gone, come): ([String], [String]) = ([], [])
      for key in keys {
        switch (old[key], new[key]) {
        case (let before?, nil): gone.append(ValueText.of(before))
        case (nil, let after?): come.append(ValueText.of(after))
        case (let before?, let after?): compare(before, after, path: place, depth: depth + 1)
        case (nil, nil): break
        }
      }
      exchange(gone, come, place)
    }
  }

  /// Says what has gone from a place and what has come there; what reads alike has changed all the same.
  private mutating func exchange(_ gone: [String], _ come: [String], _ path: String) {
    let alike = Set(gone).intersection(come)
    for text in gone.sorted() where !alike.contains(text) { tell("- \(path): \(text)", of: path) }
    for text in come.sorted() where !alike.contains(text) { tell("+ \(path): \(text)", of: path) }
    if !alike.isEmpty { tellChange(of: path) }
  }

  /// What a value is made of, what it inherits first.
  private func fields(of whole: Mirror) -> [Mirror.Child] {
    var all: [Mirror.Child] = []
    for mirror in sequence(first: whole, next: \.superclassMirror) {
      all.insert(contentsOf: mirror.children, at: 0)
    }
    return all
  }

  private func pairs(of dictionary: Mirror) -> [Key: Any] {
    dictionary.children.reduce(into: [:]) { pairs, child in
      let pair = Array(Mirror(reflecting: child.value).children)
      if pair.count == 2 { pairs[key(pair[0].value)] = pair[1].value }
    }
  }

  private func key(_ value: Any) -> Key {
    let hashable = value as? AnyHashable
    // What is not even equal to itself would not be found again.
    return Key(value: hashable == hashable ? hashable : nil, text: ValueText.of(value))
  }

  /// Compares by the descriptions, and by what the values say themselves where these are alike.
  ///
  /// - Returns: Whether they differ.
  @discardableResult
  private mutating func change(_ before: Any, _ after: Any, _ path: String) -> Bool {
    let (old, new) = (ValueText.of(before), ValueText.of(after))
    if old != new {
      tell(path.isEmpty ? "\(old) → \(new)" : "\(path): \(old) → \(new)", of: path)
    } else if areEqual(before, after) == false {
      tellChange(of: path)
    } else {
      return false
    }
    return true
  }

  private mutating func tellChange(of path: String) {
    tell(path.isEmpty ? "changed" : "\(path): changed", of: path)
  }

  private mutating func tell(_ line: String, of path: String) {
    found.append(StateDiff.Difference(path: path, line: line))
  }

  private func join(_ path: String, _ label: String) -> String {
    path.isEmpty ? label : "\(path).\(label)"
  }
}

extension Equatable {
  fileprivate func isEqual(to other: Any) -> Bool { (other as? Self).map { $0 == self } ?? false }
}
