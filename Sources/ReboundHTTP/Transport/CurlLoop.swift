#if Curl
  import CCurl
  import Dispatch
  import Foundation
  import StreamSupport

  /// The thread that carries all transfers of one transport, with libcurl's multi interface.
  ///
  /// Other threads leave it commands, and wake it when it may be asleep. Everything of libcurl's is touched by this thread
  /// alone, but for that wake-up.
  ///
  /// Unchecked, because the lock guards what threads share, and only the loop's own thread uses the rest.
  final class CurlLoop: @unchecked Sendable {
    enum Command {
      case add(CurlTransfer)
      case stop(CurlTransfer)
      /// Something of the transfer is no longer paused.
      case resume(CurlTransfer)
    }

    // Guarded by `lock`.
    private let lock = Lock()
    @exclusivity(unchecked) private var commands: [Command] = []
    @exclusivity(unchecked) private var isClosing = false
    /// Whether the thread waits for its sockets, or is about to: awake, it looks for commands by itself.
    @exclusivity(unchecked) private var isAsleep = false
    /// `nil` once the thread has ended, or if libcurl has no memory.
    @exclusivity(unchecked) private var multi: UnsafeMutableRawPointer?

    // Of the loop's thread.
    @exclusivity(unchecked) private var active: [CurlHandle] = []
    @exclusivity(unchecked) private var idle: [CurlHandle] = []
    @exclusivity(unchecked) private var origins: [Origin: CurlOrigin] = [:]
    /// That of the last request, which the next one is likely to be for.
    @exclusivity(unchecked) private var latestOrigin: CurlOrigin?
    /// Those with transfers that need perhaps not wait any longer.
    @exclusivity(unchecked) private var stirred: [CurlOrigin] = []
    let options: CurlOptions
    let reachability: any Reachability
    private let maxTransfersPerHost: Int
    /// Whether anything has come, gone or changed since libcurl's sockets were last waited for.
    @exclusivity(unchecked) private var hasMoved = false
    /// How often libcurl was asked to go on.
    @exclusivity(unchecked) private(set) var turn = 0
    @exclusivity(unchecked) private var spinDetector = SpinDetector()
    /// When ends that libcurl has not seen were last looked for.
    @exclusivity(unchecked) private var lookedForEnds = DispatchTime.now()

    /// In milliseconds; only a bound.
    private static let longSleep: Int32 = 60_000
    /// In milliseconds, while transfers are under way.
    ///
    /// Of many HTTP/2 streams at once over one connection, one hung now and then with libcurl 7.88, until its idle limit.
    /// None was seen to since the loop looks this often; the likely reason is a stream that libcurl has read already, so that
    /// its socket stays silent, and that only the next `curl_multi_perform` finds.
    private static let shortSleep: Int32 = 100

    /// Idle handles that are kept for the next requests.
    private static let idleHandles = 64

    /// libcurl wants this once in a process; a static property is initialised once, whichever thread comes first.
    private static let isInitialized = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

    init(_ options: CurlOptions, _ reachability: any Reachability, maxTransfersPerHost: Int) {
      self.options = options
      self.reachability = reachability
      // libcurl has a limit of its own, but 7.88 forgets now and then to wake a transfer that waits for it.
      self.maxTransfersPerHost = max(1, maxTransfersPerHost)
      multi = CurlLoop.isInitialized ? curl_multi_init() : nil
    }

    func start() {
      guard multi != nil else { return }
      let thread = Thread { self.run() }
      thread.name = "rebound.curl-transport"
      thread.start()
    }

    /// Ends the thread once nothing is under way.
    func close() {
      lock.withLock {
        isClosing = true
        wake()
      }
    }

    /// Leaves a command to the thread.
    func post(_ command: Command) {
      let isOver = lock.withLock {
        guard multi != nil else { return true }
        commands.append(command)
        guard isAsleep else { return false }
        isAsleep = false
        wake()
        return false
      }
      if isOver, case .add(let transfer) = command {
        transfer.exchange.abort(TransportFailure(.other, detail: "libcurl could not be started."))
      }
    }

    /// Called with the lock held, which keeps the handle alive meanwhile.
    private func wake() {
      if let multi { curl_multi_wakeup(multi) }
    }

    private func run() {
      guard let multi = lock.withLock({ self.multi }) else { return }
      while true {
        for command in takeCommands() { run(command, multi) }
        beginWaiting(multi)
        turn &+= 1
        var runningCount: Int32 = 0
        curl_multi_perform(multi, &runningCount)
        readMessages(multi)
        beginWaiting(multi)
        if active.isEmpty, end() { break }
        lookForEnds(maySleep() ? waitForSockets(multi) : DispatchTime.now())
      }
      for handle in idle { handle.free() }
      idle = []
      curl_multi_cleanup(multi)
    }

    /// Sleeps until a socket, libcurl's own timers or a command wants something; says when that was.
    private func waitForSockets(_ multi: UnsafeMutableRawPointer) -> DispatchTime {
      let start = DispatchTime.now()
      curl_multi_poll(multi, nil, 0, active.isEmpty ? CurlLoop.longSleep : CurlLoop.shortSleep, nil)
      let end = DispatchTime.now()
      if spinDetector.end(hasMoved: hasMoved, hasWaited: start + SpinDetector.rest <= end) {
        // Nobody signals it.
        _ = DispatchSemaphore(value: 0).wait(timeout: end + SpinDetector.rest)
      }
      hasMoved = false
      return end
    }

    /// Called by a transfer that has got or given bytes, or a connection.
    func noteMove() {
      hasMoved = true
    }

    private func lookForEnds(_ now: DispatchTime) {
      guard lookedForEnds + .milliseconds(Int(CurlLoop.shortSleep)) <= now else { return }
      lookedForEnds = now
      for handle in active { handle.transfer?.lookForEnd() }
    }

    /// Falls asleep, unless a command has come meanwhile.
    private func maySleep() -> Bool {
      lock.withLock {
        isAsleep = commands.isEmpty
        return isAsleep
      }
    }

    private func takeCommands() -> [Command] {
      lock.withLock {
        isAsleep = false
        guard !commands.isEmpty else { return [] }
        defer { commands = [] }
        return commands
      }
    }

    /// Ends the thread's work if it is to end and nothing is left to do.
    private func end() -> Bool {
      lock.withLock {
        guard isClosing, commands.isEmpty else { return false }
        multi = nil
        return true
      }
    }

    private func run(_ command: Command, _ multi: UnsafeMutableRawPointer) {
      hasMoved = true
      switch command {
      case .add(let transfer): add(transfer)
      case .stop(let transfer):
        guard let handle = transfer.handle else {
          transfer.isStopped = true
          transfer.origin?.remove(transfer)
          return
        }
        remove(transfer, handle, multi)
        handle.free()
      case .resume(let transfer): transfer.unpause()
      }
    }

    private func add(_ transfer: CurlTransfer) {
      guard !transfer.isStopped else { return }
      let origin = origin(of: transfer)
      transfer.origin = origin
      origin.add(transfer)
      stir(origin)
    }

    private func origin(of transfer: CurlTransfer) -> CurlOrigin {
      if let latestOrigin, let spelling = latestOrigin.spelling, transfer.request.address.hasOrigin(spelling) {
        return latestOrigin
      }
      let server = Origin(transfer.request.address)
      let origin = origins[server] ?? CurlOrigin(server)
      origin.spelling = transfer.request.address.origin
      origins[server] = origin
      let before = latestOrigin
      latestOrigin = origin
      if let before { forgetIfUnused(before) }
      return origin
    }

    private func forgetIfUnused(_ origin: CurlOrigin) {
      if origin.isUnused, origin !== latestOrigin { origins[origin.server] = nil }
    }

    private func stir(_ origin: CurlOrigin?) {
      guard let origin, !origin.isStirred else { return }
      origin.isStirred = true
      stirred.append(origin)
    }

    /// Begins what has room now, the oldest first.
    private func beginWaiting(_ multi: UnsafeMutableRawPointer) {
      while let origin = stirred.popLast() {
        origin.isStirred = false
        while let next = origin.next(atMost: maxTransfersPerHost) { begin(next, multi) }
        forgetIfUnused(origin)
      }
    }

    private func begin(_ transfer: CurlTransfer, _ multi: UnsafeMutableRawPointer) {
      guard let handle = idle.popLast() ?? CurlHandle() else {
        return transfer.exchange.abort(TransportFailure(.other, detail: "libcurl has no memory."))
      }
      do throws(TransportFailure) {
        try transfer.prepare(handle)
      } catch {
        recycle(handle)
        return transfer.exchange.abort(error)
      }
      handle.transfer = transfer
      handle.place = active.count
      active.append(handle)
      transfer.origin?.noteBegun()
      curl_multi_add_handle(multi, handle.easy)
    }

    /// Called by a transfer once it has a connection, within libcurl, so that nothing can be begun yet.
    func noteConnected(_ transfer: CurlTransfer) {
      transfer.origin?.noteConnected()
      stir(transfer.origin)
    }

    /// Called by a transfer that reads it, whichever of those that share the connection that is.
    func noteGoAway(_ connection: CurlConnection, lastStream: Int) {
      for handle in active { handle.transfer?.noteGoAway(connection, lastStream: lastStream) }
    }

    private func readMessages(_ multi: UnsafeMutableRawPointer) {
      var left: Int32 = 0
      while let message = curl_multi_info_read(multi, &left) {
        guard message.pointee.msg == CURLMSG_DONE, let easy = message.pointee.easy_handle,
          let handle = CurlHandle.of(easy), let transfer = handle.transfer
        else { continue }
        let result = rebound_curl_result(message)
        let end = transfer.end(result)
        remove(transfer, handle, multi)
        switch end {
        case .finished:
          recycle(handle)
          transfer.exchange.finish()
        case .answered:
          handle.free()
          transfer.exchange.finish()
        case .failed(let failure):
          handle.free()
          transfer.exchange.fail(failure)
        }
      }
    }

    private func remove(_ transfer: CurlTransfer, _ handle: CurlHandle, _ multi: UnsafeMutableRawPointer) {
      hasMoved = true
      active.swapAt(handle.place, active.count - 1)
      active[handle.place].place = handle.place
      active.removeLast()
      handle.transfer = nil
      curl_multi_remove_handle(multi, handle.easy)
      transfer.release()
      transfer.origin?.noteEnded(wasConnected: transfer.isConnected)
      stir(transfer.origin)
    }

    /// Keeps the handle of a transfer that has ended well, or has not begun, for another.
    ///
    /// Any other end may leave something behind that `curl_easy_reset` does not undo: if a server has refused to look at a
    /// request, libcurl 7.88 tries to begin the body of the next one anew.
    private func recycle(_ handle: CurlHandle) {
      guard idle.count < CurlLoop.idleHandles else { return handle.free() }
      if handle.server == nil { handle.reset() }
      idle.append(handle)
    }
  }
#endif
