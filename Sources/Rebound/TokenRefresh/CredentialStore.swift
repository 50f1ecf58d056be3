import StreamSupport

/// Where several processes keep the one credential that they share: an app, its widgets, its extensions.
///
/// Servers that rotate refresh tokens accept each of them once, so two processes that redeem the same one sign the user
/// out. The lock therefore spans the whole refresh: re-read, redeem, write. Whoever gets it second finds that what is
/// stored is no longer what it was about to renew, and takes that over without asking the server.
///
///     let store = CredentialStore<Token>(
///       isSame: { $0.refreshToken == $1.refreshToken },
///       read: { try await keychain.token() },
///       write: { try await keychain.save($0) },
///       exclusively: { body in await file.withLock { await body() } }
///     )
///
/// What is stored counts as the newer one of the same session, whoever's it is: the next refresh takes it over. So where
/// somebody signs in, anew or as someone else, first store the credential, under the lock, and then give it to
/// ``TokenRefresher/signIn(with:at:)``; else a session goes on as the one before.
///
/// Signing out goes in this order: ``TokenRefresher/signOut()``, and then, under the lock, delete what is stored. A
/// refresh that holds the lock meanwhile either sees that its session has ended and writes nothing, or has written
/// before and is deleted.
public struct CredentialStore<Credential: Sendable>: Sendable {
  private let isSame: @Sendable (Credential, Credential) -> Bool
  private let read: @Sendable () async throws -> Credential?
  private let write: @Sendable (Credential) async throws -> Void
  private let exclusively: @Sendable (_ body: @escaping @Sendable () async -> Void) async throws -> Void
  private let leftover = Leftover()

  /// What is stored though it is used up, since its successor could not be.
  private final class Leftover: Sendable {
    let credential = Locked<Credential?>(nil)
  }

  /// Describes a store.
  ///
  /// - Parameters:
  ///   - isSame: Whether two credentials are the same one, that is, whether renewing one uses the other up.
  ///   - read: What is stored; `nil` if nothing is.
  ///   - write: Stores a new credential. If it throws, the credential is used all the same: the old one is used up, and
  ///     what is stored is not taken over before another process has stored something.
  ///   - exclusively: Runs a function, once, while no other process runs one.
  public init(
    isSame: @escaping @Sendable (Credential, Credential) -> Bool,
    read: @escaping @Sendable () async throws -> Credential?,
    write: @escaping @Sendable (Credential) async throws -> Void,
    exclusively: @escaping @Sendable (_ body: @escaping @Sendable () async -> Void) async throws -> Void
  ) {
    self.isSame = isSame
    self.read = read
    self.write = write
    self.exclusively = exclusively
  }

  func refresh(
    _ request: TokenRefresher<Credential>.Refresh,
    with redeem: @escaping @Sendable (TokenRefresher<Credential>.Refresh) async -> RefreshOutcome<Credential>
  ) async -> RefreshOutcome<Credential> {
    let (outcomes, continuation) = AsyncStream<RefreshOutcome<Credential>>.makeStream()
    do {
      try await exclusively {
        continuation.yield(await reread(request, with: redeem))
      }
    } catch {
      continuation.yield(.failed(error))
    }
    continuation.finish()
    for await outcome in outcomes { return outcome }
    return .failed(RefreshWithoutCredential())
  }

  private func reread(
    _ request: TokenRefresher<Credential>.Refresh,
    with redeem: @Sendable (TokenRefresher<Credential>.Refresh) async -> RefreshOutcome<Credential>
  ) async -> RefreshOutcome<Credential> {
    let stored: Credential?
    do {
      stored = try await read()
      if let stored, !isSame(stored, request.credential), !isUsedUp(stored) { return .refreshed(stored) }
    } catch {
      // To redeem without knowing what another process has done might use up its credential.
      return .failed(error)
    }
    let outcome = await redeem(request)
    // Nothing that comes after a sign-out may be stored.
    guard case .refreshed(let credential) = outcome, request.isCurrent else { return outcome }
    do {
      try await write(credential)
      _ = leftover.credential.exchange(nil)
    } catch {
      _ = leftover.credential.exchange(stored)
      request.reportNotStored(error)
    }
    return outcome
  }

  /// Whether this process has redeemed what is stored, and no other has stored anything since.
  private func isUsedUp(_ stored: Credential) -> Bool {
    leftover.credential.withLock { $0 }.map { isSame(stored, $0) } ?? false
  }
}
