#if Curl
  import CCurl
  import Foundation
  import Rebound

  /// Sends requests through libcurl: far cheaper than Foundation's URLSession on Linux, and without its faults.
  ///
  ///     let client = WebAPIClient(transport: CurlTransport())
  ///
  /// It comes with the trait `Curl` (`traits: [.defaults, "Curl"]` in the manifest), and needs the headers of libcurl.
  /// One thread carries all requests of a transport, over connections that are kept open and, where the server can, over
  /// HTTP/2. Events come on that thread: a receiver that blocks holds up all of them. Bodies from files and streams are
  /// read on queues of their own, ahead of the network by one piece; of a file that grows meanwhile, what it had before is sent.
  /// A pause stops the reading from the network, so that the server has to wait.
  ///
  /// Unless its ``Configuration`` says otherwise, it trusts the certificates that the system trusts, and asks the proxies
  /// that `https_proxy` and its kin name. A request that is not idempotent is never sent twice, also not when a kept connection turns out to be closed.
  public final class CurlTransport: Transport {
    private let loop: CurlLoop
    private let deadlines: ExchangeDeadlines

    /// Makes a transport, and starts its thread.
    ///
    /// - Parameters:
    ///   - maxRequestsPerHost: See ``Configuration/maxRequestsPerHost``.
    ///   - time: Measures the limits of requests.
    ///   - reachability: Asked whether the device has a network at all when no connection can be made.
    public convenience init(
      maxRequestsPerHost: Int = 16,
      time: TimeSource = .current,
      reachability: any Reachability = SystemReachability.shared
    ) {
      var configuration = Configuration()
      configuration.maxRequestsPerHost = maxRequestsPerHost
      self.init(configuration, time: time, reachability: reachability)
    }

    /// Makes a transport that is held to a configuration, and starts its thread.
    ///
    /// - Parameters:
    ///   - configuration: Whom it trusts, which keys it expects, and which proxies it asks.
    ///   - time: Measures the limits of requests.
    ///   - reachability: Asked whether the device has a network at all when no connection can be made.
    public init(
      _ configuration: Configuration,
      time: TimeSource = .current,
      reachability: any Reachability = SystemReachability.shared
    ) {
      deadlines = ExchangeDeadlines(time)
      loop = CurlLoop(
        CurlOptions(configuration),
        reachability,
        maxTransfersPerHost: configuration.maxRequestsPerHost
      )
      loop.start()
    }

    deinit {
      // What is under way goes on to its end; then the thread ends.
      loop.close()
    }

    /// Begins to send a request.
    public func start(
      _ request: TransportRequest,
      telling receiver: @escaping @Sendable (TransportEvent) -> Void
    ) -> any TransportExchange {
      let exchange = OngoingExchange(request.limits, deadlines, telling: receiver)
      let transfer = CurlTransfer(request, exchange, loop)
      exchange.begin(on: transfer)
      if !exchange.isOver { loop.post(.add(transfer)) }
      return exchange
    }
  }
#endif
