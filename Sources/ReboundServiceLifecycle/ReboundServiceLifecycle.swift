#if ServiceLifecycle
  import Rebound
  import ServiceLifecycle

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

  /// What works in the background until it is stopped, as a service: a refresh that repeats, a connection of a fleet.
  ///
  ///     let prices = BackgroundService { try await PriceFeed.connect() } stop: { await $0.close() }
  ///
  /// What is started is held until the shutdown, and released behind it.
  public struct BackgroundService<Work: Sendable>: Service {
    private let start: @Sendable () async throws -> Work
    private let stop: @Sendable (Work) async -> Void

    /// Makes a service.
    ///
    /// - Parameters:
    ///   - start: Begins the work, in the service's task; what it throws ends the program.
    ///   - stop: Ends it, at the shutdown or a cancel; called once for each start that succeeded. Nothing, if nothing is
    ///     said, for what ends when nobody holds it: an `AnyCancellable` cancels itself.
    public init(
      start: @escaping @Sendable () async throws -> Work,
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
