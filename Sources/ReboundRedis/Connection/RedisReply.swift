#if Redis
  import CHiredis

  /// What a server has answered.
  package enum RedisReply: Hashable, Sendable {
    case integer(Int)
    case bytes([UInt8])
    case status(String)
    case array([RedisReply])
    case error(String)
    case missing

    init(_ reply: redisReply) {
      switch reply.type {
      case REDIS_REPLY_INTEGER: self = .integer(Int(reply.integer))
      case REDIS_REPLY_STRING: self = .bytes(Self.bytes(of: reply))
      case REDIS_REPLY_STATUS: self = .status(String(decoding: Self.bytes(of: reply), as: UTF8.self))
      case REDIS_REPLY_ERROR:
        self = .error(Self.withoutArguments(String(decoding: Self.bytes(of: reply), as: UTF8.self)))
      case REDIS_REPLY_ARRAY:
        self = .array((0..<reply.elements).map { reply.element[$0].map { RedisReply($0.pointee) } ?? .missing })
      default: self = .missing
      }
    }

    /// Of a command that it does not know a server repeats the arguments: a password, or what is to be kept.
    private static func withoutArguments(_ text: String) -> String {
      text.firstRange(of: ", with args beginning with").map { String(text[..<$0.lowerBound]) } ?? text
    }

    private static func bytes(of reply: redisReply) -> [UInt8] {
      guard let text = reply.str else { return [] }
      return Array(UnsafeRawBufferPointer(start: text, count: reply.len))
    }

    /// Whether the server has refused.
    var isError: Bool { if case .error = self { true } else { false } }

    /// The number, if it is one.
    package var integer: Int? { if case .integer(let value) = self { value } else { nil } }

    /// The numbers of an array, if there are this many at least.
    func integers(_ count: Int) -> [Int]? {
      guard case .array(let items) = self else { return nil }
      let numbers = items.compactMap(\.integer)
      return numbers.count == items.count && numbers.count >= count ? numbers : nil
    }
  }
#endif
