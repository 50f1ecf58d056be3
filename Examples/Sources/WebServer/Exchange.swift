import CMicroHTTPD
import Foundation

/// One request and its answer, from the request line to the last byte.
///
/// libmicrohttpd calls on its own thread; handlers answer on theirs. While a handler works, the connection is
/// suspended; it is resumed exactly once, by the answer or by ``abandon()``, because the daemon aborts the process when
/// it is stopped with a suspended connection.
final class Exchange: Sendable {
  /// What libmicrohttpd is to do when it comes back to a request that has been read.
  enum Step {
    case handle(body: Data)
    case answer(Response)
    case wait
    case closeConnection
  }

  private enum Phase {
    case receivingHead
    case receivingBody(Data)
    case handling(connection: ForeignPointer, Task<Void, Never>?)
    case answered(Response)
    case sending(EventStream?)
    case abandoned
    case over
  }

  /// The target as it came; nil if it isn't UTF-8.
  let target: String?
  private let phase = Locked(Phase.receivingHead)

  init(target: String?) {
    self.target = target
  }

  /// Notes that the head was read.
  ///
  /// - Returns: Whether this is the first call for this request.
  func beginBody() -> Bool {
    phase.withLock { phase in
      guard case .receivingHead = phase else { return false }
      phase = .receivingBody(Data())
      return true
    }
  }

  /// Takes a part of the body.
  ///
  /// - Returns: False if the body is larger than `limit`.
  func receive(_ part: UnsafeRawBufferPointer, limit: Int) -> Bool {
    phase.withLock { phase in
      guard case .receivingBody(var body) = phase, body.count + part.count <= limit else { return false }
      // Leaves the only reference to the bytes in `body`, so that appending doesn't copy them.
      phase = .receivingBody(Data())
      body.append(contentsOf: part)
      phase = .receivingBody(body)
      return true
    }
  }

  /// Says what comes next, once the request is complete.
  func nextStep() -> Step {
    phase.withLock { phase in
      switch phase {
      case .receivingBody(let body):
        return .handle(body: body)
      case .answered(let response):
        if case .events(let stream) = response.content { phase = .sending(stream) } else { phase = .sending(nil) }
        return .answer(response)
      case .handling:
        return .wait
      case .receivingHead, .sending, .abandoned, .over:
        return .closeConnection
      }
    }
  }

  /// Suspends the connection until there is an answer.
  ///
  /// - Returns: False if the exchange has been abandoned in the meantime.
  func suspend(_ connection: ForeignPointer) -> Bool {
    phase.withLock { phase in
      guard case .receivingBody = phase else { return false }
      phase = .handling(connection: connection, nil)
      MHD_suspend_connection(connection.pointer)
      return true
    }
  }

  /// Remembers the handler's task, to cancel it if nobody wants the answer any more.
  func attach(_ task: Task<Void, Never>) {
    let isAbandoned = phase.withLock { phase in
      if case .handling(let connection, _) = phase { phase = .handling(connection: connection, task) }
      return if case .abandoned = phase { true } else { false }
    }
    if isAbandoned { task.cancel() }
  }

  /// Answers, and wakes the connection.
  func answer(_ response: Response) {
    let isWanted = phase.withLock { phase in
      guard case .handling(let connection, _) = phase else { return false }
      phase = .answered(response)
      MHD_resume_connection(connection.pointer)
      return true
    }
    if !isWanted { response.discard() }
  }

  /// Gives the exchange up: its connection is closed as soon as libmicrohttpd gets to it.
  func abandon() {
    let (task, stream) = phase.withLock { phase -> (Task<Void, Never>?, EventStream?) in
      switch phase {
      case .receivingHead, .receivingBody:
        phase = .abandoned
        return (nil, nil)
      case .handling(let connection, let task):
        phase = .abandoned
        MHD_resume_connection(connection.pointer)
        return (task, nil)
      case .answered(let response):
        if case .events(let stream) = response.content { return (nil, stream) }
        return (nil, nil)
      case .sending(let stream):
        return (nil, stream)
      case .abandoned, .over:
        return (nil, nil)
      }
    }
    task?.cancel()
    stream?.abort()
  }

  /// Writes a comment to the client's stream of events, if it has one.
  func beat() {
    stream?.beat()
  }

  /// Ends the client's stream of events, if it has one.
  func closeStream() {
    stream?.close()
  }

  private var stream: EventStream? {
    phase.withLock { phase in
      switch phase {
      case .sending(let stream): return stream
      case .answered(let response):
        if case .events(let stream) = response.content { return stream }
        return nil
      case .receivingHead, .receivingBody, .handling, .abandoned, .over: return nil
      }
    }
  }

  /// Notes that libmicrohttpd is done with this request.
  func end() {
    let stream = self.stream
    phase.withLock { $0 = .over }
    stream?.connectionEnded()
  }
}
