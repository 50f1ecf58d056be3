import Combine

/// A coder whose data is a number's text, and which refuses negative numbers and what is not a number.
struct TestCoder: TopLevelEncoder, TopLevelDecoder {
  struct Refusal: Error, Equatable {}

  func encode<T: Encodable>(_ value: T) throws -> String {
    guard let number = value as? Int, number >= 0 else { throw Refusal() }
    return "<\(number)>"
  }

  func decode<T: Decodable>(_ type: T.Type, from data: Int) throws -> T {
    guard data >= 0, let value = "<\(data)>" as? T else { throw Refusal() }
    return value
  }
}
