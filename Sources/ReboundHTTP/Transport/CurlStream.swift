#if Curl
  import Foundation

  /// What libcurl writes into its log about HTTP/2, and says nowhere else; the words are those of libcurl 7.88.
  enum CurlNote: Hashable {
    /// The request is the stream of that number.
    case stream(Int)
    /// The server has refused to look at the stream (REFUSED_STREAM).
    case refused
    /// The server ends the connection, and will not look at streams behind that one (GOAWAY).
    case goAway(lastStream: Int)

    /// - Parameter line: A line of the log.
    init?(_ line: UnsafeRawBufferPointer) {
      // Nearly all lines are others, so none becomes a text before its beginning is known.
      if line.starts(with: "REFUSED_STREAM, retrying".utf8) {
        self = .refused
      } else if line.starts(with: "Using Stream ID: ".utf8), let number = CurlNote.number(line, behind: "ID: ") {
        self = .stream(number)
      } else if CurlNote.goAways.contains(where: { line.starts(with: $0.utf8) }),
        let last = CurlNote.number(line, behind: "last_stream=")
      {
        self = .goAway(lastStream: last)
      } else {
        return nil
      }
    }

    /// As 7.88 spells it, and as later versions do.
    private static let goAways = ["recveived GOAWAY, ", "received GOAWAY, "]

    private static func number(_ line: UnsafeRawBufferPointer, behind words: String) -> Int? {
      let text = String(decoding: line, as: UTF8.self)
      guard let end = text.range(of: words)?.upperBound else { return nil }
      return Int(text[end...].prefix { $0.isASCII && $0.isNumber })
    }
  }

  /// Which connection a request goes over; as long as that is open, no other has the same.
  struct CurlConnection: Hashable {
    private let remote: String
    private let remotePort: Int32
    private let local: String
    private let localPort: Int32

    init(
      _ remote: UnsafePointer<CChar>?,
      _ remotePort: Int32,
      _ local: UnsafePointer<CChar>?,
      _ localPort: Int32
    ) {
      self.remote = remote.map { String(cString: $0) } ?? ""
      self.remotePort = remotePort
      self.local = local.map { String(cString: $0) } ?? ""
      self.localPort = localPort
    }
  }

  /// Where a request was sent, and whether the server has said that it did not look at it (RFC 9113 §8.7).
  struct CurlStream {
    /// `nil` before it was sent.
    let connection: CurlConnection?
    private var number: Int?
    private(set) var isUnprocessed = false

    init(_ connection: CurlConnection? = nil) {
      self.connection = connection
    }

    mutating func take(_ note: CurlNote) {
      switch note {
      case .stream(let number): self.number = number
      case .refused: isUnprocessed = true
      case .goAway(let last): if let number, number > last { isUnprocessed = true }
      }
    }
  }
#endif
