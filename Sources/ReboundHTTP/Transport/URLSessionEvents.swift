import Foundation
import StreamSupport

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The delegate of a session: hands on what happens to a task to its exchange.
final class URLSessionEvents: NSObject, URLSessionDataDelegate, Sendable {
  private struct Entry {
    let exchange: OngoingExchange
    let carrier: URLSessionCarrier
    let request: TransportRequest
    var hasHead = false
  }

  private let reachability: any Reachability
  private let entries = Locked<[Int: Entry]>([:])

  init(_ reachability: any Reachability) {
    self.reachability = reachability
  }

  func add(
    _ exchange: OngoingExchange,
    _ carrier: URLSessionCarrier,
    _ request: TransportRequest,
    for task: URLSessionTask
  ) {
    let entry = Entry(exchange: exchange, carrier: carrier, request: request)
    entries.withLock { $0[task.taskIdentifier] = entry }
  }

  private func entry(for task: URLSessionTask) -> Entry? {
    entries.withLock { $0[task.taskIdentifier] }
  }

  /// Tells the head, unless it has been told.
  private func tellHead(_ response: URLResponse?, of task: URLSessionTask) {
    // Foundation on Linux announces the first informational answer as if it were the answer, and never the answer
    // itself; nor a redirect without a Location. By the time the body comes, the task knows better.
    guard let response = response as? HTTPURLResponse, response.statusCode >= 200 else { return }
    let entry: Entry? = entries.withLock { entries in
      guard let entry = entries[task.taskIdentifier], !entry.hasHead else { return nil }
      entries[task.taskIdentifier]?.hasHead = true
      return entry
    }
    if let entry { entry.exchange.receive(ResponseHead(response, for: entry.request.url)) }
  }

  func urlSession(
    _ session: URLSession,
    task: URLSessionTask,
    willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest,
    completionHandler: @escaping @Sendable (URLRequest?) -> Void
  ) {
    entry(for: task)?.carrier.answer { completionHandler(nil) }
  }

  func urlSession(
    _ session: URLSession,
    task: URLSessionTask,
    didReceive challenge: URLAuthenticationChallenge,
    completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
  ) {
    #if canImport(Darwin)
      completionHandler(.performDefaultHandling, nil)
    #else
      // Foundation on Linux asks once the whole answer has come, and tells its end only to those who have credentials.
      tellHead(task.response, of: task)
      guard let entry = entry(for: task) else { return }
      entry.exchange.finish()
      entry.carrier.stop()
    #endif
  }

  func urlSession(
    _ session: URLSession,
    task: URLSessionTask,
    needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
  ) {
    // Never nothing: Foundation on Linux stops the process for want of a stream.
    let empty = InputStream(data: Data())
    guard let entry = entry(for: task) else { return completionHandler(empty) }
    let abort: @Sendable (any Error) -> Void = { [weak exchange = entry.exchange] error in
      exchange?.abort(TransportFailure(.body, underlying: error))
    }
    do {
      completionHandler(try BodyInputStream.open(entry.request.body, failed: abort))
    } catch {
      abort(error)
      completionHandler(empty)
    }
  }

  func urlSession(
    _ session: URLSession,
    task: URLSessionTask,
    didSendBodyData bytesSent: Int64,
    totalBytesSent: Int64,
    totalBytesExpectedToSend: Int64
  ) {
    guard let entry = entry(for: task) else { return }
    entry.exchange.sent(totalBytesSent)
    #if !canImport(Darwin)
      // Foundation on Linux sends all that a file has by then.
      if case .file = entry.request.body, totalBytesSent > totalBytesExpectedToSend {
        let mismatch = BodyLengthMismatch.long(totalBytesExpectedToSend)
        entry.exchange.abort(TransportFailure(.body, underlying: mismatch))
      }
    #endif
  }

  func urlSession(
    _ session: URLSession,
    dataTask: URLSessionDataTask,
    didReceive response: URLResponse,
    completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
  ) {
    if (response as? HTTPURLResponse)?.statusCode == 101 { entry(for: dataTask)?.exchange.abort(.unaskedUpgrade) }
    tellHead(response, of: dataTask)
    entry(for: dataTask)?.carrier.answer { completionHandler(.allow) }
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    tellHead(dataTask.response, of: dataTask)
    entry(for: dataTask)?.exchange.receive(data)
  }

  func urlSession(
    _ session: URLSession,
    dataTask: URLSessionDataTask,
    willCacheResponse proposedResponse: CachedURLResponse,
    completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
  ) {
    completionHandler(nil)
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    if error == nil { tellHead(task.response, of: task) }
    guard let entry = entries.withLock({ $0.removeValue(forKey: task.taskIdentifier) }) else { return }
    if let error {
      entry.exchange.fail(failure(for: error, entry.request))
    } else {
      entry.exchange.finish()
    }
  }

  private func failure(for error: any Error, _ request: TransportRequest) -> TransportFailure {
    let error = error as NSError
    let kind = TransportVerdicts.kind(ofURLError: error).refined(for: request.url, reachability)
    return TransportFailure(kind, detail: error.localizedDescription, underlying: error)
  }
}
