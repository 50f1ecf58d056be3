/// One connection, for the thread that plays its faults; other threads only wake the socket.
final class ServedConnection {
  private let socket: Socket
  private let state: ServerState
  private let bell: Bell
  private var number = 0
  /// What was received and not yet looked at.
  private var buffer: [UInt8] = []
  private var request: (index: Int?, head: ReceivedRequest)?
  /// How much of the request's body was read.
  private var readCount = 0
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
      request = (state.record(head), head)
      readCount = 0
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
    take(min(count, buffer.count))
  }

  private func readBody() {
    guard let head = request?.head else { return }
    if head[field: "Expect"]?.lowercased() == "100-continue" { send("HTTP/1.1 100 Continue\r\n\r\n".utf8) }
    if head[field: "Transfer-Encoding"]?.lowercased() == "chunked" {
      if readCount == 0 { readChunks() } else { readToLastChunk() }
    } else if let length = head[field: "Content-Length"].flatMap({ Int($0) }) {
      readBytes(length - readCount)
    }
  }

  /// What was read before may have ended anywhere in a chunk.
  private func readToLastChunk() {
    let end = Array("0\r\n\r\n".utf8)
    while isOpen {
      if let position = buffer.firstPosition(of: end) { return take(position + end.count) }
      guard fill() else { return }
    }
  }

  private func readChunks() {
    while let line = readLine(), let size = Int(line.prefix { $0 != ";" }, radix: 16) {
      guard size > 0 else { return readTrailers() }
      readBytes(size)
      guard let after = readLine(), after.isEmpty else { return }
    }
  }

  /// The fields behind the last chunk, if there are any, up to the empty line.
  private func readTrailers() {
    while let line = readLine(), !line.isEmpty {}
  }

  private func readLine() -> String? {
    let end = Array("\r\n".utf8)
    while true {
      if let position = buffer.firstPosition(of: end) {
        let line = String(decoding: buffer[..<position], as: UTF8.self)
        buffer.removeFirst(position + end.count)
        return line
      }
      guard fill() else { return nil }
    }
  }

  private func readBytes(_ count: Int) {
    var rest = count
    while rest > 0, !buffer.isEmpty || fill() {
      let part = min(rest, buffer.count)
      take(part)
      rest -= part
    }
  }

  /// Takes bytes of the body out of the buffer.
  private func take(_ count: Int) {
    if let index = request?.index { state.recordBody(buffer.prefix(count), ofRequest: index) }
    buffer.removeFirst(count)
    readCount += count
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
