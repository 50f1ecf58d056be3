#if Curl
  import CCurl
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
    private var commands: [Command] = []
    private var isClosing = false
    /// `nil` once the thread has ended, or if libcurl has no memory.
    private var multi: UnsafeMutableRawPointer?

    // Of the loop's thread.
    private var active: [UnsafeMutableRawPointer: CurlTransfer] = [:]
    private var idle: [CurlHandle] = []
    /// How many transfers of an origin are active, and which wait for one of them to end, oldest first.
    private var activeCounts: [String: Int] = [:]
    private var waiting: [String: [CurlTransfer]] = [:]
    private let maxTransfersPerHost: Int

    /// Idle handles that are kept for the next requests.
    private static let idleHandles = 64

    /// libcurl wants this once in a process; a static property is initialised once, whichever thread comes first.
    private static let isInitialized = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

    init(maxTransfersPerHost: Int) {
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
        // Whoever left the first has woken it.
        if commands.isEmpty { wake() }
        commands.append(command)
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
        var runningCount: Int32 = 0
        curl_multi_perform(multi, &runningCount)
        readMessages(multi)
        if active.isEmpty, end() { break }
        // Sleeps until a socket, libcurl's own timers or a command wants something; the minute is only a bound.
        curl_multi_poll(multi, nil, 0, 60_000, nil)
      }
      for handle in idle { handle.free() }
      idle = []
      curl_multi_cleanup(multi)
    }

    private func takeCommands() -> [Command] {
      lock.withLock {
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
      switch command {
      case .add(let transfer): add(transfer, multi)
      case .stop(let transfer):
        guard let handle = transfer.handle else { return transfer.isStopped = true }
        remove(handle, multi)
      case .resume(let transfer): transfer.unpause()
      }
    }

    private func add(_ transfer: CurlTransfer, _ multi: UnsafeMutableRawPointer) {
      guard activeCounts[transfer.origin, default: 0] < maxTransfersPerHost else {
        return waiting[transfer.origin, default: []].append(transfer)
      }
      begin(transfer, multi)
    }

    /// Begins a transfer, and says whether it did.
    @discardableResult
    private func begin(_ transfer: CurlTransfer, _ multi: UnsafeMutableRawPointer) -> Bool {
      guard !transfer.isStopped else { return false }
      guard let handle = idle.popLast() ?? CurlHandle() else {
        transfer.exchange.abort(TransportFailure(.other, detail: "libcurl has no memory."))
        return false
      }
      do throws(TransportFailure) {
        try transfer.prepare(handle)
      } catch {
        recycle(handle)
        transfer.exchange.abort(error)
        return false
      }
      active[handle.easy] = transfer
      activeCounts[transfer.origin, default: 0] += 1
      curl_multi_add_handle(multi, handle.easy)
      return true
    }

    /// Begins the oldest of the transfers that wait for this origin and can begin.
    private func beginNext(of origin: String, _ multi: UnsafeMutableRawPointer) {
      while var queue = waiting.removeValue(forKey: origin) {
        let next = queue.removeFirst()
        if !queue.isEmpty { waiting[origin] = queue }
        if begin(next, multi) { return }
      }
    }

    private func readMessages(_ multi: UnsafeMutableRawPointer) {
      var left: Int32 = 0
      while let message = curl_multi_info_read(multi, &left) {
        guard message.pointee.msg == CURLMSG_DONE, let easy = message.pointee.easy_handle,
          let transfer = active[easy], let handle = transfer.handle
        else { continue }
        let result = rebound_curl_result(message)
        let end = transfer.end(result)
        remove(handle, multi)
        switch end {
        case .finished: transfer.exchange.finish()
        case .failed(let failure): transfer.exchange.fail(failure)
        }
      }
    }

    private func remove(_ handle: CurlHandle, _ multi: UnsafeMutableRawPointer) {
      guard let transfer = active.removeValue(forKey: handle.easy) else { return }
      curl_multi_remove_handle(multi, handle.easy)
      transfer.release()
      recycle(handle)
      let rest = activeCounts[transfer.origin, default: 1] - 1
      activeCounts[transfer.origin] = rest > 0 ? rest : nil
      beginNext(of: transfer.origin, multi)
    }

    private func recycle(_ handle: CurlHandle) {
      guard idle.count < CurlLoop.idleHandles else { return handle.free() }
      curl_easy_reset(handle.easy)
      idle.append(handle)
    }
  }

  /// An easy handle, and the place where libcurl writes what went wrong.
  struct CurlHandle {
    let easy: UnsafeMutableRawPointer
    let errorText: UnsafeMutablePointer<CChar>

    /// `nil` if there is no memory.
    init?() {
      guard let easy = curl_easy_init() else { return nil }
      self.easy = easy
      errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
      errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    }

    func free() {
      curl_easy_cleanup(easy)
      errorText.deallocate()
    }
  }
#endif
