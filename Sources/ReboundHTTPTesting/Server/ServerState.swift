import StreamSupport

/// What the server, its connections and the test share.
final class ServerState: Sendable {
  /// What a test waits for.
  enum Milestone: Hashable {
    case stallBegun
    case connectionEnded
    case floodSent
  }

  private struct State {
    var programs: [String: [Fault]] = [:]
    var connectionFaults: [Fault?] = []
    var lastConnectionFault: Fault?
    var requests: [ReceivedRequest] = []
    var open: [Int: Socket] = [:]
    var connectionCount = 0
    var isStopped = false
    var stalls = true
    var records = true
    var stalled: [Int: Bell] = [:]
    var reached: [Milestone: Int] = [:]
  }

  private let state = Monitor(State())

  var requests: [ReceivedRequest] { state.withLock { $0.requests } }
  var connectionCount: Int { state.withLock { $0.connectionCount } }
  var stalls: Bool {
    get { state.withLock { $0.stalls } }
    set { state.withLock { $0.stalls = newValue } }
  }

  var records: Bool {
    get { state.withLock { $0.records } }
    set { state.withLock { $0.records = newValue } }
  }

  func program(_ path: String, _ faults: [Fault]) {
    state.withLock { $0.programs[path] = faults }
  }

  func programConnections(_ faults: [Fault?], _ last: Fault?) {
    state.withLock { state in
      state.connectionFaults = faults
      state.lastConnectionFault = last
    }
  }

  /// The fault for the next request for a path.
  func takeFault(for path: String) -> Fault {
    state.withLock { state in
      guard let faults = state.programs[path], let first = faults.first else { return .status(404) }
      if faults.count > 1 { state.programs[path] = Array(faults.dropFirst()) }
      return first
    }
  }

  /// Takes in a connection; gives it its number, and what is to happen to it before a request is read.
  func add(_ socket: Socket) -> (number: Int, fault: Fault?)? {
    state.withLock { state in
      guard !state.isStopped else { return nil }
      let number = state.connectionCount
      state.connectionCount += 1
      state.open[number] = socket
      let faults = state.connectionFaults
      return (number, faults.isEmpty ? state.lastConnectionFault : state.connectionFaults.removeFirst())
    }
  }

  func remove(connection number: Int) {
    state.withLock { state in
      state.open[number] = nil
      state.reached[.connectionEnded, default: 0] += 1
    }
  }

  /// Notes a request, and returns where it stands; `nil` if requests are not kept.
  func record(_ request: ReceivedRequest) -> Int? {
    state.withLock { state in
      guard state.records else { return nil }
      state.requests.append(request)
      return state.requests.count - 1
    }
  }

  func recordBody(_ bytes: some Collection<UInt8>, ofRequest index: Int) {
    state.withLock { state in
      state.requests[index].bodyCount += bytes.count
      state.requests[index].body += bytes.prefix(65_536 - state.requests[index].body.count)
    }
  }

  /// Notes that a connection stalls, and says whether it shall.
  func beginStall(of number: Int, _ bell: Bell) -> Bool {
    state.withLock { state in
      guard state.stalls, !state.isStopped else { return false }
      state.stalled[number] = bell
      state.reached[.stallBegun, default: 0] += 1
      return true
    }
  }

  /// Notes that a connection has sent a flood.
  func noteFlood() {
    state.withLock { $0.reached[.floodSent, default: 0] += 1 }
  }

  func endStall(of number: Int) {
    // It may have ended by itself when the bell was rung, or just before.
    state.withLock { $0.stalled.removeValue(forKey: number) }?.silence()
  }

  /// Waits until a milestone was reached so often, the server is stopped, or the task is cancelled.
  func until(_ milestone: Milestone, _ count: Int) async {
    await state.until { $0.reached[milestone, default: 0] >= count || $0.isStopped }
  }

  func goOn() {
    // With the lock held, so that no bell rings for a stall that is over.
    state.withLock { for bell in $0.stalled.values { bell.ring() } }
  }

  func stop() {
    let open = state.withLock { state in
      state.isStopped = true
      return Array(state.open.values)
    }
    goOn()
    for socket in open { socket.wake() }
  }
}
