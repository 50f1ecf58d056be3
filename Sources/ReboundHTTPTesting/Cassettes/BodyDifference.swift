import Foundation
import ReboundHTTP

/// What is different between the bodies of two requests.
struct BodyDifference {
  /// In words, a few at most; none if they mean the same.
  let words: [String]

  private static let limit = 5

  init(_ sent: CassetteRequest, _ recorded: CassetteRequest) {
    let (new, old) = (BodyDifference.withPlainBoundary(sent), BodyDifference.withPlainBoundary(recorded))
    if new == old {
      words = []
    } else if new.isEmpty || old.isEmpty {
      words = [new.isEmpty ? "the body is missing" : "there is a body of \(new.count) bytes, and was none"]
    } else if let (newJSON, oldJSON) = BodyDifference.json(new, old) {
      // Encoders write members in any order.
      words = newJSON.canonical == oldJSON.canonical ? [] : BodyDifference.words(newJSON.value, oldJSON.value)
    } else {
      words = [BodyDifference.words(new, old)]
    }
  }

  /// A boundary is drawn anew for each request.
  private static func withPlainBoundary(_ request: CassetteRequest) -> Data {
    guard let boundary = request.headers["Content-Type"].flatMap(HAR.boundary(of:)) else { return request.body }
    var (result, rest) = (Data(), request.body)
    let delimiter = Data("--\(boundary)".utf8)
    while let range = rest.range(of: delimiter) {
      result += rest[..<range.lowerBound] + Data("--boundary".utf8)
      rest = rest[range.upperBound...]
    }
    return result + rest
  }

  private typealias JSON = (canonical: Data, value: JSONValue)

  private static func json(_ new: Data, _ old: Data) -> (JSON, JSON)? {
    guard let new = json(new), let old = json(old) else { return nil }
    return (new, old)
  }

  private static func json(_ data: Data) -> JSON? {
    // Integers stay exact in this one, whatever their size.
    guard
      let object = try? JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed),
      let canonical = try? JSONSerialization.data(withJSONObject: object, options: [.sortedKeys, .fragmentsAllowed]),
      let value = try? JSONDecoder().decode(JSONValue.self, from: data)
    else { return nil }
    return (canonical, value)
  }

  private static func words(_ new: JSONValue, _ old: JSONValue) -> [String] {
    var words: [String] = []
    collect(new, old, "", &words)
    // Numbers that differ in digits which this form does not have.
    return words.isEmpty ? ["the body has another number"] : words
  }

  private static func collect(_ new: JSONValue?, _ old: JSONValue?, _ path: String, _ words: inout [String]) {
    guard new != old, words.count < limit else { return }
    if let newMembers = new?.members, let oldMembers = old?.members {
      for name in Set(newMembers.keys).union(oldMembers.keys).sorted() {
        collect(newMembers[name], oldMembers[name], path.isEmpty ? name : "\(path).\(name)", &words)
      }
    } else if let newElements = new?.elements, let oldElements = old?.elements {
      for index in 0..<max(newElements.count, oldElements.count) {
        let pair = (newElements.at(index), oldElements.at(index))
        collect(pair.0, pair.1, "\(path)[\(index)]", &words)
      }
    } else {
      let name = path.isEmpty ? "the body" : "'\(path)' of the body"
      switch (new, old) {
      case (let new?, let old?): words.append("\(name) is \(text(new)), not \(text(old))")
      case (let new?, nil): words.append("\(name) is \(text(new)), and was not there")
      case (nil, _): words.append("\(name) is missing")
      }
    }
  }

  private static func text(_ value: JSONValue) -> String {
    guard let data = try? JSONEncoder().encode(value) else { return "\(value)" }
    return excerpt(String(decoding: data, as: UTF8.self))
  }

  private static func words(_ new: Data, _ old: Data) -> String {
    let place = zip(new, old).prefix { $0 == $1 }.map { _ in 1 }.count
    guard let newText = String(validating: new, as: UTF8.self), let oldText = String(validating: old, as: UTF8.self)
    else { return "the body is one of \(new.count) bytes, not \(old.count), other from byte \(place + 1) on" }
    return "the body is '\(excerpt(newText))', not '\(excerpt(oldText))', other from byte \(place + 1) on"
  }

  private static func excerpt(_ text: String) -> String { text.count > 60 ? "\(text.prefix(60))…" : text }
}

extension Array {
  fileprivate func at(_ index: Int) -> Element? { indices.contains(index) ? self[index] : nil }
}
