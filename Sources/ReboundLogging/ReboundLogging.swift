#if Logging
  import Combine
  import Logging
  import Rebound
  import ReboundHTTP

  extension PolicyEvents {
    /// Writes what policies decide from now on into a log, until the result is cancelled.
    ///
    ///     events.log(to: Logger(label: "policies")).store(in: &subscriptions)
    ///
    /// The severities info, warning and error are the levels of these names. The message is the event's text, with what
    /// looks like a secret hidden; the metadata are `rebound.source`, `rebound.policy` and `rebound.decision`, each of which
    /// has few values, and `rebound.execution`, the number of the event's execution, if it has one.
    ///
    /// While somebody logs, each event is made; below the logger's level no text is. An event that the stream was told to
    /// leave out is not logged.
    ///
    /// - Parameters:
    ///   - logger: Where to write, on the threads of those who decide.
    ///   - redaction: What must not be seen: an error of somebody else's may describe itself with an address.
    public func log(to logger: Logger, redaction: Redaction = .standard) -> AnyCancellable {
      sink { event in
        logger.log(
          level: Logger.Level(event.severity),
          "\(redaction.line(event.text))",
          metadata: event.metadata,
          source: "Rebound"
        )
      }
    }
  }

  extension WebAPIClient {
    /// The same client, which writes the events of its calls into a log.
    ///
    ///     let client = WebAPIClient(baseURL: service, transport: transport).logging(to: Logger(label: "weather"))
    ///
    /// A call that fails is an error, an attempt that fails or is refused a warning, a call that succeeds or is cancelled
    /// info, progress trace, and all else debug. The message is the event's line, which has no secrets; the metadata are
    /// `rebound.operation` and `rebound.request_id`.
    ///
    /// - Parameter logger: Where to write, on the threads on which the client tells its events.
    public func logging(to logger: Logger) -> WebAPIClient {
      onEvent { event in
        logger.log(
          level: event.level,
          "\(event.description)",
          metadata: [
            "rebound.operation": .string(event.operation),
            "rebound.request_id": .string(event.requestID),
          ],
          source: "ReboundHTTP"
        )
      }
    }
  }

  extension PolicyEvent {
    fileprivate var metadata: Logger.Metadata {
      var metadata: Logger.Metadata = [
        "rebound.source": .string(source),
        "rebound.policy": .string(kind.word),
        "rebound.decision": .string(decision.word),
      ]
      metadata["rebound.execution"] = execution.map { .string("\($0)") }
      return metadata
    }
  }

  extension Logger.Level {
    fileprivate init(_ severity: PolicyEvent.Severity) {
      self =
        switch severity {
        case .info: .info
        case .warning: .warning
        case .error: .error
        }
    }
  }

  extension HTTPEvent {
    fileprivate var level: Logger.Level {
      switch kind {
      case .failed: .error
      case .attemptFailed, .refused: .warning
      case .decided(let decision): decision.severity == .info ? .debug : .warning
      case .succeeded, .cancelled: .info
      case .uploaded, .downloaded: .trace
      case .began, .attemptBegan, .redirected, .responded, .attemptSucceeded, .retry, .cache: .debug
      }
    }
  }
#endif
