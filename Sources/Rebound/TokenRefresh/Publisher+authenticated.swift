import Combine
import StreamSupport

extension TokenRefresher {
  /// Makes a publisher that sends requests with the shared credential, and once more with another if the server
  /// refuses it.
  ///
  ///     session.authenticated(when: \.isUnauthorised, failingWith: NetworkFailure.init) { token in
  ///       client.publisher(for: request, token: token)
  ///     }
  ///
  /// - Parameters:
  ///   - isUnauthorised: Which failures say that the server refuses the credential.
  ///   - failure: The failure for a request that gets no credential.
  ///   - time: Measures lifetimes and pauses.
  ///   - request: Makes the request; called once for each time that it is sent, on the thread that brings the
  ///     credential.
  ///
  /// - Demand: Passes up; what is owed when the credential is refused is asked of the second request. Nothing is held
  ///   while the credential is waited for.
  /// - Failure: That of the request, or the one for no credential. A second refusal passes on; and the first, if credentials
  ///   are renewed too often already: a server that refuses each of them says the same each time.
  /// - Threads: Where the request sends. A request that has waited is sent where the refresh ends.
  @inlinable
  public func authenticated<Request: Publisher>(
    when isUnauthorised: @escaping (Request.Failure) -> Bool,
    failingWith failure: @escaping (TokenRefreshFailure) -> Request.Failure,
    time: TimeSource = .current,
    _ request: @escaping (Credential) -> Request
  ) -> some Publisher<Request.Output, Request.Failure> {
    Authenticated(refresher: self, isUnauthorised: isUnauthorised, failure: failure, time: time, request: request)
  }

  /// Makes a publisher that sends requests with the shared credential, and fails with ``TokenRefreshFailure`` if there
  /// is none.
  ///
  /// See ``authenticated(when:failingWith:time:_:)``.
  ///
  /// - Parameters:
  ///   - isUnauthorised: Which failures say that the server refuses the credential.
  ///   - time: Measures lifetimes and pauses.
  ///   - request: Makes the request.
  @inlinable
  public func authenticated<Request: Publisher>(
    when isUnauthorised: @escaping (any Error) -> Bool,
    time: TimeSource = .current,
    _ request: @escaping (Credential) -> Request
  ) -> some Publisher<Request.Output, any Error> where Request.Failure == any Error {
    authenticated(when: isUnauthorised, failingWith: { $0 }, time: time, request)
  }
}

/// A publisher that sends each subscriber's requests with a shared credential.
@usableFromInline
struct Authenticated<Credential: Sendable, Request: Publisher>: Publisher {
  @usableFromInline typealias Output = Request.Output
  @usableFromInline typealias Failure = Request.Failure
  @usableFromInline typealias Call = AuthenticatedCall<Credential, Failure>

  /// The request as the credential makes it that is there when it is sent.
  @usableFromInline
  struct Attempt: Publisher {
    @usableFromInline typealias Output = Request.Output
    @usableFromInline typealias Failure = Request.Failure

    @usableFromInline let call: Call
    @usableFromInline let request: (Credential) -> Request

    @inlinable
    init(_ call: Call, _ request: @escaping (Credential) -> Request) {
      (self.call, self.request) = (call, request)
    }

    @inlinable
    func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      // The machine lets no attempt begin before there is a credential.
      guard let access = call.access else { return Empty().subscribe(subscriber) }
      request(access.credential).subscribe(subscriber)
    }
  }

  @usableFromInline let refresher: TokenRefresher<Credential>
  @usableFromInline let isUnauthorised: (Failure) -> Bool
  @usableFromInline let failure: (TokenRefreshFailure) -> Failure
  @usableFromInline let time: TimeSource
  @usableFromInline let request: (Credential) -> Request

  @inlinable
  init(
    refresher: TokenRefresher<Credential>,
    isUnauthorised: @escaping (Failure) -> Bool,
    failure: @escaping (TokenRefreshFailure) -> Failure,
    time: TimeSource,
    request: @escaping (Credential) -> Request
  ) {
    (self.refresher, self.time) = (refresher, time)
    (self.isUnauthorised, self.failure, self.request) = (isUnauthorised, failure, request)
  }

  @inlinable @inline(__always)
  func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
    let call = Call(with: refresher, when: isUnauthorised, failingWith: failure)
    Publishers.WithPolicy(upstream: Attempt(call, request), policy: AuthenticationPolicy(call), time: time)
      .subscribe(subscriber)
  }
}

/// What the requests of one execution are sent with, and where that comes from.
///
/// Unchecked, because the credential is set by whoever asks the machine, before it lets the attempt begin that is sent with it;
/// the lock of the execution is in between. The closures are not `@Sendable`, so that they may capture what Apple's operators let
/// theirs capture; whoever subscribes from several threads answers for that, as with the closure of `Publishers.Catch`.
@usableFromInline
final class AuthenticatedCall<Credential: Sendable, Failure: Error>: @unchecked Sendable {
  @usableFromInline let refresher: TokenRefresher<Credential>
  @usableFromInline let isUnauthorised: (Failure) -> Bool
  /// What the request fails with that gets no credential; `nil` for what the execution says.
  @usableFromInline let failure: ((TokenRefreshFailure) -> Failure)?
  @exclusivity(unchecked) @usableFromInline var access: TokenRefresher<Credential>.Access?

  @inlinable
  init(
    with refresher: TokenRefresher<Credential>,
    when isUnauthorised: @escaping (Failure) -> Bool,
    failingWith failure: ((TokenRefreshFailure) -> Failure)? = nil
  ) {
    (self.refresher, self.isUnauthorised, self.failure) = (refresher, isUnauthorised, failure)
  }
}

/// Sends a request with a shared credential, and once more with another if the server refuses it.
public struct AuthenticationPolicy<Credential: Sendable, Failure: Error>: Policy {
  /// Of one execution.
  @usableFromInline let call: AuthenticatedCall<Credential, Failure>

  @inlinable
  init(_ call: AuthenticatedCall<Credential, Failure>) { self.call = call }

  /// What it does.
  @inlinable
  public var descriptor: StageDescriptor { StageDescriptor(.authentication) }

  /// One call must not ask the refresher twice, and is made again if its credential is refused.
  public var traits: StageTraits {
    var traits = StageTraits(descriptor: descriptor, sharedObject: call.refresher)
    (traits.repeats, traits.livesOnFailures) = (true, true)
    return traits
  }

  /// Makes the machine of one execution.
  @inlinable
  public func makeMachine(_ execution: ExecutionContext) -> Machine { Machine(call) }

  /// The two times that a request is sent at most.
  public struct Machine: PolicyMachine {
    @usableFromInline typealias Reply = Result<TokenRefresher<Credential>.Access, TokenRefreshFailure>

    @usableFromInline let call: AuthenticatedCall<Credential, Failure>
    @usableFromInline var attempts = 0
    /// What the request has failed with, if the server refuses its credential.
    @usableFromInline var refusal: Failure?
    @usableFromInline var waiter: AnswerWaiter<Reply>?

    @inlinable
    init(_ call: AuthenticatedCall<Credential, Failure>) {
      self.call = call
    }

    /// Asks for a credential: the first, or another in place of one that the server has refused.
    @inlinable
    public mutating func begins(_ execution: ExecutionContext) -> Decision<Failure> {
      let time = execution.time
      let now = time.now
      if call.access == nil, let access = call.refresher.accessAtOnce(at: now) { return send(with: access) }
      return ask(at: now, on: time, execution)
    }

    @usableFromInline
    mutating func ask(at now: Duration, on time: TimeSource, _ execution: ExecutionContext) -> Decision<Failure> {
      var made: AnswerWaiter<Reply>?
      let reply = call.refresher.ask(insteadOf: call.access, at: now, on: time) {
        let waiter = AnswerWaiter<Reply>()
        made = waiter
        return { _ = waiter.answer($0) }
      }
      switch reply {
      case .answer(let known):
        return decide(known)
      case .wait(let pending):
        made?.keep(pending)
        waiter = made
        return woken(execution)
      }
    }

    /// Sends the request with the credential, if there is one.
    @inlinable
    public mutating func woken(_ execution: ExecutionContext) -> Decision<Failure> {
      guard let waiter else { return .proceed }
      guard let answer = waiter.take() else { return .park(waiter.wait) }
      self.waiter = nil
      return decide(answer)
    }

    /// What follows from a credential, or from there being none.
    @usableFromInline
    mutating func decide(_ answer: Reply) -> Decision<Failure> {
      switch answer {
      case .success(let access): return send(with: access)
      case .failure(let failure):
        // Whatever is issued is refused: that is what the request has failed with.
        if failure.reason == .tooManyRefreshes, let refusal { return .fail(refusal) }
        return call.failure.map { .fail($0(failure)) } ?? .refuse(failure)
      }
    }

    @inlinable @inline(__always)
    mutating func send(with access: TokenRefresher<Credential>.Access) -> Decision<Failure> {
      attempts += 1
      call.access = access
      return .proceed
    }

    /// Sends it once more if the server has refused the credential.
    @inlinable
    public mutating func failed(with error: Failure, _ execution: ExecutionContext) -> Decision<Failure> {
      guard attempts == 1, call.isUnauthorised(error) else { return .proceed }
      refusal = error
      return .wait(.zero)
    }

    /// No longer waits for a credential; the refresh goes on.
    @inlinable
    public mutating func cancelled(_ execution: ExecutionContext) {
      _ = waiter?.abandon()
      waiter = nil
    }
  }
}
