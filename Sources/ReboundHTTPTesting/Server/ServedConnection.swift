/// One connection, for the thread that plays its faults; other threads only wake the socket.
final class ServedConnection {
  private let socket: Socket
  private let state: ServerState
  private let bell: Bell
  private var number = 0
  /// What was received and not yet looked at.
  private var buffer: [UInt8] = []
  /// The request that is being answered, its place among those that are kept, and what is left of its body.
  private var request: (head: ReceivedRequest, index: Int?, body: BodyScanner)?
  private var isOpen = true

  init(_ socket: Socket, _ state: ServerState) throws {
    self.socket = socket
    self.state = state
    bell = try Bell()
  }

  /// Plays faults until the connection ends.
  func serve() {
    guard let (number, fault) = state.add(socket) else { return }
    self.number = number
    if let fault { play(fault) }
    while isOpen, let head = readHead() {
      request = (head, state.record(head), BodyScanner(head))
      play(state.takeFault(for: head.path))
      request = nil
    }
    state.remove(connection: number)
  }

  private func play(_ fault: Fault) {
    for step in fault.steps where isOpen { play(step) }
  }

  private func play(_ step: Fault.Step) {
    switch step {
    case .readBody: readBody()
    case .readSome(let count): readSome(atMost: max(count, 1))
    case .send(let bytes): send(bytes)
    case .drip(let bytes): for byte in bytes where isOpen { send(CollectionOfOne(byte)) }
    case .flood(let bytes, let times): for _ in 0..<max(times, 0) where isOpen { send(bytes) }
    case .stall: stall()
    case .reset:
      socket.resetWhenClosed()
      isOpen = false
    case .close: close()
    }
  }

  private func send(_ bytes: some Collection<UInt8>) {
    isOpen = socket.send(bytes)
  }

  private func stall() {
    guard state.beginStall(of: number, bell) else { return }
    socket.waitForEnd(orBell: bell.descriptor)
    state.endStall(of: number)
  }

  /// Ends the stream, and takes what the client still sends: closing with that unread would be a reset.
  private func close() {
    isOpen = false
    socket.endSending()
    while !socket.receive(atMost: 65_536).isEmpty {}
  }

  private func fill() -> Bool {
    let received = socket.receive(atMost: 65_536)
    buffer += received
    return !received.isEmpty
  }

  private func readHead() -> ReceivedRequest? {
    let end = Array("\r\n\r\n".utf8)
    while true {
      if let position = buffer.firstPosition(of: end) {
        let head = String(decoding: buffer[..<position], as: UTF8.self)
        buffer.removeFirst(position + end.count)
        return ReceivedRequest(head: head, connection: number)
      }
      guard buffer.count < 1 << 20, fill() else { return nil }
    }
  }

  private func readSome(atMost count: Int) {
    if buffer.isEmpty { buffer = socket.receive(atMost: count) }
    let some = buffer.prefix(count)
    buffer.removeFirst(some.count)
    // What is behind the body counts as well: nobody should have sent it there.
    note(takeBody(from: some))
  }

  private func readBody() {
    guard let request else { return }
    if request.head[field: "Expect"]?.lowercased() == "100-continue" { send("HTTP/1.1 100 Continue\r\n\r\n".utf8) }
    while isOpen, self.request?.body.isOver == false, !buffer.isEmpty || fill() {
      buffer = Array(takeBody(from: buffer[...]))
    }
  }

  /// Notes what the bytes have of the request's body, and returns what is behind its end.
  private func takeBody(from bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    var rest = bytes
    if let data = request?.body.take(&rest) { note(data) }
    return rest
  }

  private func note(_ bytes: some Collection<UInt8>) {
    if let index = request?.index { state.recordBody(bytes, ofRequest: index) }
  }
}

extension Array<UInt8> {
  /// Where these bytes begin for the first time.
  fileprivate func firstPosition(of bytes: [UInt8]) -> Int? {
    guard let first = bytes.first else { return 0 }
    var position = 0
    while let next = self[position...].firstIndex(of: first), next + bytes.count <= count {
      if self[next..<next + bytes.count].elementsEqual(bytes) { return next }
      position = next + 1
    }
    return nil
  }
}
