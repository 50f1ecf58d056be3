/// Says in lines what differs between two values, by what they are made of.
///
///     StateDiff.lines(from: before, to: after)   // ["animals.current: \"Cat\" → \"Dog\""]
///
/// It looks into structures, tuples, enumerations, collections and objects, and compares what is left by its
/// description. It reads the values only.
public enum StateDiff {
  /// The differences, one in each line; none if there are none.
  ///
  /// `path: before → after` is a change, `+ path: value` something new, `- path: value` something that is gone.
  ///
  /// - Complexity: O(n) in what the values are made of. Beyond a depth of 16 values count as their description, which also
  ///   ends objects that hold each other.
  public static func lines(from before: Any, to after: Any) -> [String] {
    var lines: [String] = []
    compare(before, after, path: "", depth: 0, into: &lines)
    return lines
  }

  private static let maximumDepth = 16

  private static func compare(_ before: Any, _ after: Any, path: String, depth: Int, into lines: inout [String]) {
    let (old, new) = (Mirror(reflecting: before), Mirror(reflecting: after))
    guard depth < maximumDepth, old.subjectType == new.subjectType, old.displayStyle == new.displayStyle else {
      return change(before, after, path, &lines)
    }
    switch old.displayStyle {
    case .collection:
      compareElements(Array(old.children), Array(new.children), path, depth, &lines)
    case .dictionary:
      compareKeyed(pairs(of: old), pairs(of: new), path, depth, &lines)
    case .set:
      let (gone, come) = (Set(old.children.map { text($0.value) }), Set(new.children.map { text($0.value) }))
      lines += gone.subtracting(come).sorted().map { "- \(path): \($0)" }
      lines += come.subtracting(gone).sorted().map { "+ \(path): \($0)" }
    default:
      compareFields(before, after, old, new, path, depth, &lines)
    }
  }

  private static func compareFields(
    _ before: Any,
    _ after: Any,
    _ old: Mirror,
    _ new: Mirror,
    _ path: String,
    _ depth: Int,
    _ lines: inout [String]
  ) {
    let (oldFields, newFields) = (Array(old.children), Array(new.children))
    let isSameForm = oldFields.map(\.label) == newFields.map(\.label)
    guard isSameForm, !oldFields.isEmpty else { return change(before, after, path, &lines) }
    for (index, (oldField, newField)) in zip(oldFields, newFields).enumerated() {
      let label = oldField.label ?? "\(index)"
      // A case with one value shows the case itself; an optional shows its value as if it stood there itself.
      let inner = old.displayStyle == .optional ? path : join(path, label)
      compare(oldField.value, newField.value, path: inner, depth: depth + 1, into: &lines)
    }
  }

  private static func compareElements(
    _ old: [Mirror.Child],
    _ new: [Mirror.Child],
    _ path: String,
    _ depth: Int,
    _ lines: inout [String]
  ) {
    for index in 0..<max(old.count, new.count) {
      let place = "\(path)[\(index)]"
      if index >= new.count {
        lines.append("- \(place): \(text(old[index].value))")
      } else if index >= old.count {
        lines.append("+ \(place): \(text(new[index].value))")
      } else {
        compare(old[index].value, new[index].value, path: place, depth: depth + 1, into: &lines)
      }
    }
  }

  private static func compareKeyed(
    _ old: [String: Any],
    _ new: [String: Any],
    _ path: String,
    _ depth: Int,
    _ lines: inout [String]
  ) {
    for key in Set(old.keys).union(new.keys).sorted() {
      let place = "\(path)[\(key)]"
      switch (old[key], new[key]) {
      case (let gone?, nil): lines.append("- \(place): \(text(gone))")
      case (nil, let come?): lines.append("+ \(place): \(text(come))")
      case (let before?, let after?): compare(before, after, path: place, depth: depth + 1, into: &lines)
      case (nil, nil): break
      }
    }
  }

  private static func pairs(of dictionary: Mirror) -> [String: Any] {
    dictionary.children.reduce(into: [:]) { pairs, child in
      let pair = Array(Mirror(reflecting: child.value).children)
      if pair.count == 2 { pairs[text(pair[0].value)] = pair[1].value }
    }
  }

  private static func change(_ before: Any, _ after: Any, _ path: String, _ lines: inout [String]) {
    let (old, new) = (text(before), text(after))
    guard old != new else { return }
    lines.append(path.isEmpty ? "\(old) → \(new)" : "\(path): \(old) → \(new)")
  }

  /// A value in one line: text in quotation marks, `nil` as such, an optional as its value.
  private static func text(_ value: Any) -> String {
    let mirror = Mirror(reflecting: value)
    if mirror.displayStyle == .optional { return mirror.children.first.map { text($0.value) } ?? "nil" }
    return value is String ? String(reflecting: value) : String(describing: value)
  }

  private static func join(_ path: String, _ label: String) -> String {
    path.isEmpty ? label : "\(path).\(label)"
  }
}
