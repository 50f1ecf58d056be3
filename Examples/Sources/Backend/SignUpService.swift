import Foundation
import WebServer

/// Answers the two questions about user names: is it free, and may I have it.
final class SignUpService: Sendable {
  private struct Availability: Encodable {
    let isAvailable: Bool
    var userName: String?
  }

  private struct SignUp: Decodable {
    let userName: String?
    let password: String?
  }

  private struct Account: Encodable {
    let userName: String
  }

  private let store: AccountStore
  private let hasher: PasswordHasher
  private let retryAfter: Int
  private let storeQueue = WorkQueue(name: "Backend.accounts", width: 1, backlog: 1000)
  private let hashQueue: WorkQueue
  // One cycle for each question, so that signing up doesn't shift the answers of the other.
  private let availabilityCycle = Locked(MaintenanceCycle())
  private let signUpCycle = Locked(MaintenanceCycle())

  /// Where passwords are hashed.
  ///
  /// Each hash takes 64 MiB, and a core for about 0.15 s.
  static func makeHashQueue() -> WorkQueue { WorkQueue(name: "Backend.passwords", width: 2, backlog: 30) }

  /// - Parameter hashQueue: Where passwords are hashed.
  init(
    store: AccountStore,
    hasher: PasswordHasher,
    retryAfter: Int,
    hashQueue: WorkQueue = SignUpService.makeHashQueue()
  ) {
    self.store = store
    self.hasher = hasher
    self.retryAfter = retryAfter
    self.hashQueue = hashQueue
  }

  /// Answers `GET /isUserNameAvailable?userName=NAME`.
  func availability(_ request: Request) async throws -> Response {
    let parameters = request.queryValues(of: "userName")
    let name = (parameters.first ?? nil) ?? ""
    switch UserNameRules.judge(parameters: parameters) {
    case .refused(let reason): throw HTTPError(400, reason)
    case .taken: return try .json(Availability(isAvailable: false, userName: name))
    case .malformedAnswer: return try .json(Availability(isAvailable: false))
    case .permanentFailure: throw SignUpService.permanentFailure
    case .maintenance(let isPermanent):
      if isPermanent || availabilityCycle.withLock({ $0.nextFails() }) { throw maintenance }
    case .acceptable: break
    }
    let isTaken = try await onStore { try $0.isTaken(name) }
    return try .json(Availability(isAvailable: !isTaken, userName: name))
  }

  /// Answers `POST /signUp`.
  func signUp(_ request: Request) async throws -> Response {
    let wish = try request.decodeJSON(SignUp.self)
    let verdict = UserNameRules.judge(parameters: wish.userName.map { [$0] } ?? [])
    if case .refused(let reason) = verdict { throw HTTPError(400, reason) }
    guard let name = wish.userName, let password = wish.password else { throw HTTPError(400, "Password missing") }
    if let objection = PasswordRules.objection(to: password) { throw HTTPError(400, objection) }

    // Before the failures on command: what was answered once stays answered.
    let key = try SignUpService.idempotencyKey(of: request)
    if let key, let recorded = try await onStore({ try $0.answer(to: key) }) {
      return try await replay(recorded, name: name, password: password)
    }

    switch verdict {
    case .permanentFailure: throw SignUpService.permanentFailure
    case .maintenance(let isPermanent):
      if isPermanent || signUpCycle.withLock({ $0.nextFails() }) { throw maintenance }
    case .refused, .taken, .malformedAnswer, .acceptable: break
    }

    let hasher = hasher
    let registration = AccountStore.Registration(
      userName: name,
      passwordHash: try await hashing { try hasher.hash(password) },
      isNameFree: verdict != .taken && verdict != .malformedAnswer,
      idempotencyKey: key
    )
    switch try await onStore({ try $0.register(registration) }) {
    case .created: return try SignUpService.answer(wasCreated: true, name: name)
    case .taken: return try SignUpService.answer(wasCreated: false, name: name)
    case .answeredBefore(let recorded): return try await replay(recorded, name: name, password: password)
    }
  }

  /// Begins the cycles of maintenance anew.
  func resetMaintenance() {
    availabilityCycle.withLock { $0 = MaintenanceCycle() }
    signUpCycle.withLock { $0 = MaintenanceCycle() }
  }

  private func replay(_ recorded: AccountStore.RecordedAnswer, name: String, password: String) async throws -> Response
  {
    let hasher = hasher
    let isSame = try await hashing {
      recorded.userName == name && hasher.verify(password, against: recorded.passwordHash)
    }
    guard isSame else { throw HTTPError(422, "This Idempotency-Key was used for another sign-up before") }
    return try SignUpService.answer(wasCreated: recorded.wasCreated, name: recorded.userName)
  }

  private static func answer(wasCreated: Bool, name: String) throws -> Response {
    guard wasCreated else { throw HTTPError(409, "This username is not available") }
    return try .json(Account(userName: name), status: 201)
  }

  private static func idempotencyKey(of request: Request) throws -> String? {
    let keys = request.headers.values(of: "Idempotency-Key")
    guard let key = keys.first else { return nil }
    guard keys.count == 1, (1...255).contains(key.utf8.count) else {
      throw HTTPError(400, "Idempotency-Key must be given once, with 1 to 255 bytes")
    }
    return key
  }

  private static let permanentFailure = HTTPError(500, "The database is corrupted")

  private var maintenance: HTTPError {
    HTTPError(500, "Temporarily unavailable for maintenance", headers: ["Retry-After": String(retryAfter)])
  }

  private func onStore<Result: Sendable>(
    _ work: @escaping @Sendable (AccountStore) throws -> Result
  ) async throws -> Result {
    let store = store
    return try await SignUpService.refusingRush { try await self.storeQueue.run { try work(store) } }
  }

  private func hashing<Result: Sendable>(_ work: @escaping @Sendable () throws -> Result) async throws -> Result {
    try await SignUpService.refusingRush { try await self.hashQueue.run(work) }
  }

  private static func refusingRush<Result: Sendable>(_ work: () async throws -> Result) async throws -> Result {
    do {
      return try await work()
    } catch is WorkQueue.Full {
      throw HTTPError(503, "Too many people are signing up at once", headers: ["Retry-After": "1"])
    }
  }
}
