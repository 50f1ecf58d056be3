import CCurl
import Foundation

/// libcurl's multi interface and no more: a thread that carries requests which other threads leave to it, as any program
/// has to have one whose requests come from anywhere.
///
/// Unchecked, because the lock guards what threads share, and only the loop's own thread uses the rest.
final class BareCurl: @unchecked Sendable {
  private final class Transfer {
    let easy: UnsafeMutableRawPointer?
    var count = 0
    var file: UnsafeMutablePointer<FILE>?
    var fields: UnsafeMutablePointer<curl_slist>?
    var done: (@Sendable (Int?) -> Void)?

    init() {
      easy = curl_easy_init()
    }
  }

  private let address: String
  private let authorities: String?
  private let file: URL?
  private let lock = NSLock()
  private var waiting: [@Sendable (Int?) -> Void] = []
  private let multi = curl_multi_init()

  // Of the loop's thread.
  private var active: [UnsafeMutableRawPointer: Transfer] = [:]
  private var idle: [Transfer] = []

  /// - Parameters:
  ///   - authorities: The path of a file with who vouches for the server, for an address with `https`.
  ///   - file: Where bodies are put, one at a time; without one they are counted.
  init(_ address: String, authorities: String? = nil, file: URL? = nil) {
    self.address = address
    self.authorities = authorities
    self.file = file
    Thread.detachNewThread { self.run() }
  }

  func send(_ done: @escaping @Sendable (Int?) -> Void) {
    lock.withLock {
      if waiting.isEmpty { curl_multi_wakeup(multi) }
      waiting.append(done)
    }
  }

  private func run() {
    while true {
      let new = lock.withLock {
        defer { waiting = [] }
        return waiting
      }
      for done in new { begin(done) }
      var running: Int32 = 0
      curl_multi_perform(multi, &running)
      readMessages()
      curl_multi_poll(multi, nil, 0, 1000, nil)
    }
  }

  private func begin(_ done: @escaping @Sendable (Int?) -> Void) {
    let transfer = idle.popLast() ?? Transfer()
    guard let easy = transfer.easy else { return done(nil) }
    transfer.count = 0
    transfer.done = done
    transfer.file = file.flatMap { fopen($0.path, "w") }
    transfer.fields = curl_slist_append(nil, "X-Request-ID: 0123456789abcdef")
    _ = rebound_curl_set_text(easy, CURLOPT_URL, address)
    _ = rebound_curl_set_pointer(easy, CURLOPT_HTTPHEADER, transfer.fields)
    _ = rebound_curl_set_number(easy, CURLOPT_NOSIGNAL, 1)
    _ = rebound_curl_set_text(easy, CURLOPT_ACCEPT_ENCODING, "")
    if let authorities { _ = rebound_curl_set_text(easy, CURLOPT_CAINFO, authorities) }
    _ = rebound_curl_set_pointer(easy, CURLOPT_WRITEDATA, Unmanaged.passUnretained(transfer).toOpaque())
    _ = rebound_curl_set_bytes(easy, CURLOPT_WRITEFUNCTION) { bytes, size, count, context in
      guard let context else { return 0 }
      // The loop holds it as long as libcurl calls back.
      let transfer = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
      transfer.count += size * count
      guard let file = transfer.file, let bytes else { return size * count }
      return fwrite(bytes, 1, size * count, file)
    }
    active[easy] = transfer
    curl_multi_add_handle(multi, easy)
  }

  private func readMessages() {
    var left: Int32 = 0
    while let message = curl_multi_info_read(multi, &left) {
      guard message.pointee.msg == CURLMSG_DONE, let easy = message.pointee.easy_handle,
        let transfer = active.removeValue(forKey: easy)
      else { continue }
      let isGood = rebound_curl_result(message) == CURLE_OK
      curl_multi_remove_handle(multi, easy)
      curl_easy_reset(easy)
      curl_slist_free_all(transfer.fields)
      let isKept = transfer.file.map { fclose($0) == 0 } ?? true
      let done = transfer.done
      (transfer.fields, transfer.done, transfer.file) = (nil, nil, nil)
      idle.append(transfer)
      done?(isGood && isKept ? transfer.count : nil)
    }
  }
}

extension Contestant {
  /// What nothing that stands on libcurl can be cheaper than.
  static func bareCurl(_ url: URL, authorities: String? = nil) -> Contestant {
    let loop = BareCurl(url.absoluteString, authorities: authorities)
    return Contestant(name: "libcurl, bare") { loop.send($0) }
  }

  /// The same, which puts the bodies into a file.
  static func bareCurlToFile(_ url: URL, to file: URL, authorities: String? = nil) -> Contestant {
    let loop = BareCurl(url.absoluteString, authorities: authorities, file: file)
    return Contestant(name: "libcurl, to a file") { loop.send($0) }
  }
}
