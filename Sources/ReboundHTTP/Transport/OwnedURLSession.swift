import Dispatch
import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// A session, with a delegate of its own, since tasks of different sessions may have the same number.
///
/// When nobody needs it any more, what is under way goes on to its end, and only then the session lets go of its delegate.
final class OwnedURLSession: Sendable {
  let urlSession: URLSession
  let events: URLSessionEvents
  /// Where tasks are made and cancelled: on Linux both wait for the one queue of all sessions of the process, which may be
  /// busy for seconds, or be what calls; and a cancel for a download of this session that never stops reading.
  let queue = DispatchQueue(label: "rebound.url-session-transport")

  init(_ configuration: URLSessionConfiguration, _ reachability: any Reachability) {
    events = URLSessionEvents(reachability)
    #if canImport(Darwin)
      let delegateQueue = OperationQueue()
      delegateQueue.maxConcurrentOperationCount = 1
    #else
      let delegateQueue = DirectOperationQueue()
    #endif
    urlSession = URLSession(configuration: configuration, delegate: events, delegateQueue: delegateQueue)
  }

  deinit {
    urlSession.finishTasksAndInvalidate()
  }

  func makeTask(for request: TransportRequest, _ urlRequest: URLRequest) -> URLSessionTask {
    #if !canImport(Darwin)
      if case .file(let url) = request.body {
        // Foundation on Linux would take the length of a link for the file's.
        return urlSession.uploadTask(with: urlRequest, fromFile: url.resolvingSymlinksInPath())
      }
    #endif
    return urlSession.dataTask(with: urlRequest)
  }
}

#if !canImport(Darwin)
  /// Does at once what it is given, on the queue of Foundation's sessions.
  ///
  /// Foundation on Linux reads on, however many chunks wait for the delegate: through a queue, an answer without an end
  /// would be in memory before anybody could refuse it, and stay there after a cancel. The delegate only notes what comes;
  /// receivers are told elsewhere, since whatever waits here holds up all sessions of the process.
  ///
  /// Unchecked, because it has no state of its own.
  private final class DirectOperationQueue: OperationQueue, @unchecked Sendable {
    override func addOperation(_ block: @escaping @Sendable () -> Void) { block() }
    override func addOperation(_ operation: Operation) { operation.start() }
  }
#endif
