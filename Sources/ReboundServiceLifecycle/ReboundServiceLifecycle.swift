#if ServiceLifecycle
  import Rebound
  import ReboundOutbox
  import ServiceLifecycle

  #if Redis
    import ReboundRedis
  #endif

  /// An outbox as a service: opened when the service runs, closed when the program shuts down gracefully.
  ///
  ///     let group = ServiceGroup(services: [OutboxService(orders), server], gracefulShutdownSignals: [.sigterm], logger: logger)
  ///     try await group.run()
  ///
  /// Services are shut down in reverse order, so one that fills the outbox stands behind it. What is under way at the end is
  /// cancelled and stays stored; nothing is lost, and it is sent again by the next process.
  public struct OutboxService<Payload: Codable & Sendable>: Service {
    private let outbox: Outbox<Payload>

    /// Makes a service of an outbox, which nobody else closes.
    public init(_ outbox: Outbox<Payload>) {
      self.outbox = outbox
    }

    /// Opens the outbox, waits for the shutdown or a cancel, and closes the outbox.
    ///
    /// - Throws: `OutboxFailure` if the storage cannot be opened, which ends the program: what is enqueued would not be
    ///   stored. After a cancel, what the wait throws.
    public func run() async throws {
      do {
        try await outbox.open()
        try await gracefulShutdown()
      } catch {
        await outbox.close()
        throw error
      }
      await outbox.close()
    }
  }

  /// A shared credential as a service: obtained before the first request needs it, and not lost at the shutdown.
  ///
  ///     let group = ServiceGroup(services: [TokenRefresherService(session), server], logger: logger)
  ///
  /// Services are shut down in reverse order, so one that sends requests with the credential stands behind it.
  public struct TokenRefresherService<Credential: Sendable>: Service {
    private let refresher: TokenRefresher<Credential>

    /// Makes a service of a refresher.
    public init(_ refresher: TokenRefresher<Credential>) {
      self.refresher = refresher
    }

    /// Begins to obtain a credential, or to renew one that is about to expire, and waits for the shutdown or a cancel.
    ///
    /// At the shutdown it waits until a refresh under way has ended, so that what the server has issued is stored.
    ///
    /// That a credential cannot be had does not end the program: each request is told why, and so is who listens to the
    /// refresher's events. Where nobody is signed in nothing begins.
    public func run() async throws {
      refresher.prepare()
      try await gracefulShutdown()
      await refresher.waitForRefresh()
    }
  }

  #if Redis
    /// A member of a fleet as a service: it leaves when the program shuts down, and its share is the others' at once.
    ///
    ///     let group = ServiceGroup(services: [FleetService(fleet), server], logger: logger)
    ///
    /// The fleet connects when it is made. Services are shut down in reverse order, so one that calls under policies of the
    /// fleet stands behind it.
    public struct FleetService: Service {
      private let fleet: Fleet

      /// Makes a service of a fleet, which nobody else leaves.
      public init(_ fleet: Fleet) {
        self.fleet = fleet
      }

      /// Waits for the shutdown or a cancel, and leaves the fleet.
      public func run() async throws {
        try await BackgroundService(start: { fleet }, stop: { await $0.leave() }).run()
      }
    }
  #endif

  /// What works in the background until it is stopped, as a service.
  ///
  ///     let journal = BackgroundService { lines.read { line in journalFile.append(line) } }
  ///
  /// What is started is held until the shutdown, and released behind it.
  public struct BackgroundService<Work>: Service {
    private let start: @Sendable () async throws -> sending Work
    private let stop: @Sendable (Work) async -> Void

    /// Makes a service.
    ///
    /// - Parameters:
    ///   - start: Begins the work, in the service's task; what it throws ends the program.
    ///   - stop: Ends it, at the shutdown or a cancel; called once for each start that succeeded. Nothing, if nothing is
    ///     said, for what ends when nobody holds it: an `AnyCancellable` cancels itself.
    public init(
      start: @escaping @Sendable () async throws -> sending Work,
      stop: @escaping @Sendable (Work) async -> Void = { _ in }
    ) {
      self.start = start
      self.stop = stop
    }

    /// Starts the work, waits for the shutdown or a cancel, and stops the work.
    public func run() async throws {
      let work = try await start()
      do {
        try await gracefulShutdown()
      } catch {
        await stop(work)
        throw error
      }
      await stop(work)
    }
  }
#endif
