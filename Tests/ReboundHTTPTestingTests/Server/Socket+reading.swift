@testable import ReboundHTTPTesting

extension Socket {
  /// An answer whose body ends with a full stop, or what comes of it before the end.
  func readAnswer() -> String {
    var answer = ""
    while !answer.hasSuffix("."), case let bytes = receive(atMost: 65_536), !bytes.isEmpty {
      answer += String(decoding: bytes, as: UTF8.self)
    }
    return answer
  }

  /// How many bytes come before the end, or until there are so many.
  func count(upTo limit: Int = .max) -> Int {
    var count = 0
    while count < limit, case let bytes = receive(atMost: 65_536), !bytes.isEmpty { count += bytes.count }
    return count
  }
}
