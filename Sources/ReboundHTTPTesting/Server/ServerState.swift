import StreamSupport

/// What the server, its connections and the test share.
///
/// Unchecked, because the lock guards all of it.
final class ServerState: @unchecked Sendable {
  /// What a test waits for.
  enum Milestone: Hashable {
    case stallBegun
    case connectionEnded
  }

  private struct Waiter {
    let milestone: Milestone
    let count: Int
    let continuation: CheckedContinuation<Void, Never>
  }

  private let lock = Lock()
  private var programs: [String: [Fault]] = [:]
  private var connectionFaults: [Fault?] = []
  private var lastConnectionFault: Fault?
  private var received: [ReceivedRequest] = []
  private var connections: [Int: ServedConnection] = [:]
  private var accepted = 0
  private var isOver = false
  private var mayStall = true
  private var mayRecord = true
  private var stalled: [Int: Bell] = [:]
  private var reached: [Milestone: Int] = [:]
  private var waiters: [Waiter] = []

  var isStopped: Bool { lock.withLock { isOver } }
  var requests: [ReceivedRequest] { lock.withLock { received } }
  var connectionCount: Int { lock.withLock { accepted } }
  var stalls: Bool {
    get { lock.withLock { mayStall } }
    set { lock.withLock { mayStall = newValue } }
  }

  var records: Bool {
    get { lock.withLock { mayRecord } }
    set { lock.withLock { mayRecord = newValue } }
  }

  func program(_ path: String, _ faults: [Fault]) {
    lock.withLock { programs[path] = faults }
  }

  func programConnections(_ faults: [Fault?], _ last: Fault?) {
    lock.withLock {
      connectionFaults = faults
      lastConnectionFault = last
    }
  }

  /// The fault for the next request for a path.
  func takeFault(for path: String) -> Fault {
    lock.withLock {
      guard let first = programs[path]?.first else { return .status(404) }
      if let faults = programs[path], faults.count > 1 { programs[path] = Array(faults.dropFirst()) }
      return first
    }
  }

  /// Takes in a connection; gives it its number, and what is to happen to it before a request is read.
  func add(_ connection: ServedConnection) -> (number: Int, fault: Fault?)? {
    lock.withLock {
      guard !isOver else { return nil }
      let number = accepted
      accepted += 1
      connections[number] = connection
      return (number, connectionFaults.isEmpty ? lastConnectionFault : connectionFaults.removeFirst())
    }
  }

  func remove(connection number: Int) {
    let ready = lock.withLock {
      connections[number] = nil
      return waiters(reaching: .connectionEnded)
    }
    for waiter in ready { waiter.continuation.resume() }
  }

  /// Counts a milestone, and takes out whoever waited for that; called with the lock held.
  private func waiters(reaching milestone: Milestone) -> [Waiter] {
    let count = reached[milestone, default: 0] + 1
    reached[milestone] = count
    let isReady: (Waiter) -> Bool = { $0.milestone == milestone && $0.count <= count }
    defer { waiters.removeAll(where: isReady) }
    return waiters.filter(isReady)
  }

  /// Notes a request, and returns where it stands; `nil` if requests are not kept.
  func record(_ request: ReceivedRequest) -> Int? {
    lock.withLock {
      guard mayRecord else { return nil }
      received.append(request)
      return received.count - 1
    }
  }

  func recordBody(_ bytes: some Collection<UInt8>, ofRequest index: Int) {
    lock.withLock {
      received[index].bodyCount += bytes.count
      received[index].body += bytes.prefix(65_536 - received[index].body.count)
    }
  }

  /// Notes that a connection stalls, and says whether it shall.
  func beginStall(of number: Int, _ bell: Bell) -> Bool {
    let (may, ready) = lock.withLock {
      guard mayStall, !isOver else { return (false, [Waiter]()) }
      stalled[number] = bell
      return (true, waiters(reaching: .stallBegun))
    }
    for waiter in ready { waiter.continuation.resume() }
    return may
  }

  func endStall(of number: Int) {
    lock.withLock { stalled[number] = nil }
  }

  func when(_ milestone: Milestone, _ count: Int, _ continuation: CheckedContinuation<Void, Never>) {
    let isReady = lock.withLock {
      guard reached[milestone, default: 0] < count, !isOver else { return true }
      waiters.append(Waiter(milestone: milestone, count: count, continuation: continuation))
      return false
    }
    if isReady { continuation.resume() }
  }

  func goOn() {
    for bell in lock.withLock({ Array(stalled.values) }) { bell.ring() }
  }

  func stop() {
    let (open, left) = lock.withLock {
      isOver = true
      let left = (Array(connections.values), waiters)
      waiters = []
      return left
    }
    goOn()
    for connection in open { connection.wake() }
    for waiter in left { waiter.continuation.resume() }
  }
}
