/// The latest requests, for tests and for the curious.
struct RequestLog {
  struct Entry: Encodable, Equatable {
    let method: String
    let target: String
    /// The status of the answer; absent where there was none.
    let status: Int?
    /// The fault that was shown; absent if none was.
    let fault: String?
    /// When the request came, in milliseconds since the start of the service.
    let milliseconds: Int
  }

  static let capacity = 200

  private(set) var entries: [Entry] = []

  mutating func add(_ entry: Entry) {
    if entries.count == RequestLog.capacity { entries.removeFirst() }
    entries.append(entry)
  }
}
