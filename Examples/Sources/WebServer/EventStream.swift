import Dispatch

/// A stream of server-sent events to one client.
///
/// Make one per request, answer with ``Response/events(_:)``, and send to it from any thread, before or after the
/// answer has begun. Events wait in a queue until the connection takes them; the queue is bounded by `capacity`, and
/// `overflow` says what happens at the bound. The server writes a comment from time to time, because a client that has
/// gone is only noticed when a write to it fails; then the stream is closed.
public final class EventStream: Sendable {
  /// What happens when the client doesn't keep up and the queue is full.
  public enum Overflow: Sendable {
    /// The stream is closed at once. `EventSource` connects again by itself, and a handler can then send what is
    /// missing.
    case closeStream
    /// The oldest undelivered event of the same name gives way: right for events that carry the newest state, of which
    /// older ones are worth nothing. If no event of that name is waiting, the stream is closed.
    case dropOldestOfSameName
  }

  /// What there is to write to the connection.
  enum Chunk: Equatable {
    case bytes(count: Int)
    /// Nothing: the connection has been suspended until there is.
    case nothingYet
    case end
    /// The stream was broken off.
    case failure
  }

  /// How the connection is put to sleep and woken.
  struct Connection: Sendable {
    let suspend: @Sendable () -> Void
    let resume: @Sendable () -> Void
  }

  private enum Phase {
    case open
    /// No more events are taken; those waiting are still delivered.
    case ending
    /// The connection is to be cut off.
    case aborted
    case over
  }

  private struct Entry {
    let name: String?
    let bytes: [UInt8]
  }

  private struct State {
    var phase = Phase.open
    var isClaimed = false
    var waiting: [Entry] = []
    /// The entry that is being written, and how much of it has been.
    var current: [UInt8] = []
    var written = 0
    var connection: Connection?
    var isSuspended = false
    var closeCallbacks: [@Sendable () -> Void] = []

    // The connection is suspended and resumed under the stream's lock. Otherwise an event could arrive between finding
    // the queue empty and going to sleep, and wake nobody.
    mutating func wake() {
      guard isSuspended, let connection else { return }
      isSuspended = false
      connection.resume()
    }

    mutating func write(_ bytes: [UInt8]) {
      current = bytes
      written = 0
    }

    mutating func end() -> [@Sendable () -> Void] {
      phase = .over
      waiting = []
      write([])
      connection = nil
      defer { closeCallbacks = [] }
      return closeCallbacks
    }
  }

  private let capacity: Int
  private let overflow: Overflow
  private let state = Locked(State())

  /// Makes a stream.
  ///
  /// - Parameters:
  ///   - capacity: How many undelivered events may wait, at least 1.
  ///   - overflow: What happens when one more comes.
  public init(capacity: Int = 256, overflow: Overflow = .closeStream) {
    self.capacity = max(1, capacity)
    self.overflow = overflow
  }

  /// Sends an event.
  ///
  /// - Parameters:
  ///   - event: The event's name; `message` at the client if nil. Line breaks can't be sent in it, and are left out.
  ///   - id: The id that the client sends back as `Last-Event-ID` when it connects again; line breaks and NUL are left
  ///     out.
  ///   - data: The event's data; may have several lines.
  /// - Returns: False if the stream is closed, or was closed by this event because the client didn't keep up.
  @discardableResult
  public func send(event: String? = nil, id: String? = nil, data: String) -> Bool {
    let entry = Entry(name: event, bytes: EventStream.encode(event: event, id: id, data: data))
    let (isSent, callbacks) = state.withLock { state -> (Bool, [@Sendable () -> Void]) in
      guard state.phase == .open else { return (false, []) }
      if state.waiting.count >= capacity {
        guard overflow == .dropOldestOfSameName, let oldest = state.waiting.firstIndex(where: { $0.name == event })
        else { return (false, EventStream.abort(&state)) }
        state.waiting.remove(at: oldest)
      }
      state.waiting.append(entry)
      state.wake()
      return (true, [])
    }
    EventStream.run(callbacks)
    return isSent
  }

  /// Ends the stream after the events that are waiting.
  ///
  /// Closing it again does nothing.
  public func close() {
    state.withLock { state in
      guard state.phase == .open else { return }
      state.phase = .ending
      state.wake()
    }
  }

  /// Whether no more events are taken: the stream was closed, or the client has gone.
  public var isClosed: Bool {
    state.withLock { $0.phase != .open }
  }

  /// Has `callback` run once, on a thread of its own, when the client has gone or the closed stream has been written
  /// out; at once if that has happened already.
  public func onClose(_ callback: @escaping @Sendable () -> Void) {
    let isOver = state.withLock { state in
      if state.phase != .over { state.closeCallbacks.append(callback) }
      return state.phase == .over
    }
    if isOver { EventStream.run([callback]) }
  }

  // MARK: The server's side

  /// Takes the stream for one request.
  ///
  /// - Returns: False if another request has it. The two would share a connection, of which one would never be resumed.
  func claim() -> Bool {
    state.withLock { state in
      defer { state.isClaimed = true }
      return !state.isClaimed
    }
  }

  /// Gives the stream its connection.
  ///
  /// The first thing written is a comment: with nothing to follow them, the headers could wait in the kernel for more.
  func connect(_ connection: Connection) {
    state.withLock { state in
      guard state.phase != .over else { return }
      state.connection = connection
      state.write(EventStream.heartbeat)
    }
  }

  /// Copies waiting bytes into `buffer`, or suspends the connection.
  func read(into buffer: UnsafeMutableRawBufferPointer) -> Chunk {
    state.withLock { state in
      guard state.phase != .over, state.phase != .aborted else { return .failure }
      var count = 0
      while count < buffer.count {
        if state.written == state.current.count {
          guard !state.waiting.isEmpty else { break }
          state.write(state.waiting.removeFirst().bytes)
        }
        let part = state.current[state.written...].prefix(buffer.count - count)
        part.withUnsafeBytes { UnsafeMutableRawBufferPointer(rebasing: buffer[count...]).copyMemory(from: $0) }
        count += part.count
        state.written += part.count
      }
      if count > 0 { return .bytes(count: count) }
      if state.phase == .ending { return .end }
      state.isSuspended = true
      state.connection?.suspend()
      return .nothingYet
    }
  }

  /// Writes a comment, unless there is something to write anyway.
  func beat() {
    state.withLock { state in
      guard state.phase == .open, state.waiting.isEmpty, state.written == state.current.count else { return }
      state.write(EventStream.heartbeat)
      state.wake()
    }
  }

  /// Has the connection cut off at its next step.
  func abort() {
    EventStream.run(state.withLock { EventStream.abort(&$0) })
  }

  /// Forgets the connection, which is gone, and tells whoever asked to be told.
  func connectionEnded() {
    EventStream.run(state.withLock { $0.phase == .over ? [] : $0.end() })
  }

  private static func abort(_ state: inout State) -> [@Sendable () -> Void] {
    guard state.phase != .over else { return [] }
    // Without a connection nobody would ever report that it ended.
    guard state.connection != nil else { return state.end() }
    state.phase = .aborted
    state.wake()
    return []
  }

  // Off the server's own thread: a callback may take its time, or stop the server.
  private static func run(_ callbacks: [@Sendable () -> Void]) {
    for callback in callbacks { DispatchQueue.global().async(execute: callback) }
  }

  private static let heartbeat = Array(":\n\n".utf8)

  /// Writes an event as bytes (HTML Living Standard, 9.2.5).
  ///
  /// Works on bytes because an event can be large.
  static func encode(event: String?, id: String?, data: String) -> [UInt8] {
    let lineFeed = UInt8(ascii: "\n")
    let carriageReturn = UInt8(ascii: "\r")
    func isLineBreak(_ byte: UInt8) -> Bool { byte == lineFeed || byte == carriageReturn }

    var bytes: [UInt8] = []
    bytes.reserveCapacity(data.utf8.count + 64)
    if let event {
      bytes += "event: ".utf8
      bytes += event.utf8.filter { !isLineBreak($0) }
      bytes.append(lineFeed)
    }
    if let id {
      bytes += "id: ".utf8
      bytes += id.utf8.filter { !isLineBreak($0) && $0 != 0 }
      bytes.append(lineFeed)
    }
    var rest = Array(data.utf8)[...]
    while true {
      let end = rest.firstIndex(where: isLineBreak)
      bytes += "data: ".utf8
      bytes += rest[..<(end ?? rest.endIndex)]
      bytes.append(lineFeed)
      guard let end else { break }
      let isPair = rest[end] == carriageReturn && rest[end...].dropFirst().first == lineFeed
      rest = rest[(isPair ? end + 2 : end + 1)...]
    }
    bytes.append(lineFeed)
    return bytes
  }
}
