#if Redis
  import CHiredis
  import Foundation
  import StreamSupport

  /// Where other threads leave requests for the thread of a connection, and wake it if it is asleep.
  final class RedisMailbox: Sendable {
    /// What the thread is to do besides the requests.
    struct Orders {
      let cancelled: [RedisRequest]
      let mistrust: RedisFailure?
      let isClosed: Bool
    }

    private struct State {
      var requests: [RedisRequest] = []
      /// Those for which nobody waits any more.
      var cancelled: [RedisRequest] = []
      /// Whether the thread waits for its descriptors; then it is to be woken, and else it comes by itself.
      var isAsleep = false
      var isOpen = false
      var isClosed = false
      /// Why the connection is to be made anew.
      var mistrust: RedisFailure?
      /// How many are written and wait for an answer, as the thread knew when it was here last.
      var waiting = 0

      /// - Returns: Whether the caller has to wake the thread.
      mutating func wake() -> Bool {
        defer { isAsleep = false }
        return isAsleep
      }
    }

    private let state = Locked(State())
    private let maxWaiting: Int
    /// Can be read when the thread is to wake.
    let wakeup = rebound_eventfd_create()

    init(maxWaiting: Int) {
      self.maxWaiting = maxWaiting
    }

    deinit {
      // Not by the thread: another one may be about to wake it.
      Glibc.close(wakeup)
    }

    // MARK: Other threads

    /// Leaves a request.
    ///
    /// - Returns: Why it was not taken, if it was not.
    func post(_ request: RedisRequest) -> RedisFailure? {
      let (failure, wakes): (RedisFailure?, Bool) = state.withLock { state in
        guard state.isOpen else { return (state.isClosed ? .closed : .disconnected, false) }
        let waiting = state.waiting + state.requests.count
        guard waiting < maxWaiting else { return (.overloaded(waiting: waiting), false) }
        state.requests.append(request)
        return (nil, state.wake())
      }
      if wakes { rebound_eventfd_raise(wakeup) }
      return failure
    }

    /// Nobody waits for the answer any more.
    func cancel(_ request: RedisRequest) {
      let wakes = state.withLock { state in
        guard !state.isClosed else { return false }
        state.cancelled.append(request)
        return state.wake()
      }
      if wakes { rebound_eventfd_raise(wakeup) }
    }

    /// Has the thread give the connection up, and make another one.
    func reconnect(_ reason: RedisFailure) {
      let wakes = state.withLock { state in
        guard state.isOpen else { return false }
        state.mistrust = reason
        return state.wake()
      }
      if wakes { rebound_eventfd_raise(wakeup) }
    }

    /// Has the thread end.
    func close() {
      state.withLock { state in
        state.isClosed = true
        state.isOpen = false
      }
      rebound_eventfd_raise(wakeup)
    }

    // MARK: The thread

    /// Takes requests from now on, unless it is closed.
    func open() {
      state.withLock { state in
        state.isOpen = !state.isClosed
        // What prepared the connection was counted, and has been answered.
        state.waiting = 0
      }
    }

    /// Takes no more requests.
    ///
    /// - Returns: Those that were left.
    func shut() -> [RedisRequest] {
      state.withLock { state in
        state.isOpen = false
        defer { state.requests = [] }
        return state.requests
      }
    }

    /// Takes out what was left; the batch and the mailbox change places, and keep their memory.
    ///
    /// - Parameters:
    ///   - batch: Empty; gets the requests.
    ///   - waiting: How many are written and wait for an answer.
    func take(into batch: inout [RedisRequest], waiting: Int) -> Orders {
      state.withLock { state in
        state.isAsleep = false
        swap(&state.requests, &batch)
        state.waiting = waiting + batch.count
        let orders = Orders(cancelled: state.cancelled, mistrust: state.mistrust, isClosed: state.isClosed)
        if !orders.cancelled.isEmpty { state.cancelled = [] }
        state.mistrust = nil
        return orders
      }
    }

    /// Whether nothing was left meanwhile; whoever leaves something from now on wakes the thread.
    func maySleep() -> Bool {
      state.withLock { state in
        let hasOrders = !state.cancelled.isEmpty || state.mistrust != nil || state.isClosed
        state.isAsleep = state.requests.isEmpty && !hasOrders
        return state.isAsleep
      }
    }
  }
#endif
