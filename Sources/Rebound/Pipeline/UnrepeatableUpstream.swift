import Combine
import Foundation
import StreamSupport

/// A publisher that shares one execution stands under a stage that would make its call again.
///
/// `Future` runs once, however often it is subscribed to, and `share()` has ended for all when it has ended for one: every
/// retry would only get the same failure again. So it is refused when it is subscribed to, and told to the
/// ``PolicyEvents`` of the pipeline.
///
/// It is found where the type of the publisher says so, through operators such as `map` and `receive(on:)`, too; not
/// behind `eraseToAnyPublisher()`.
public struct UnrepeatableUpstream: Error, Hashable, Sendable {
  /// The name of the pipeline.
  public let pipeline: String
  /// What would make the call again.
  public let stage: PolicyKind
  /// The type of the publisher that shares one execution.
  public let upstream: String

  /// Describes a publisher that cannot be repeated.
  ///
  /// - Parameters:
  ///   - pipeline: The name of the pipeline.
  ///   - stage: What would make the call again.
  ///   - upstream: The type of the publisher that shares one execution.
  public init(pipeline: String, stage: PolicyKind, upstream: String) {
    self.pipeline = pipeline
    self.stage = stage
    self.upstream = upstream
  }
}

extension UnrepeatableUpstream: CustomStringConvertible {
  /// What is wrong, and what to do about it.
  public var description: String {
    "Pipeline \"\(pipeline)\": its \(stage) would subscribe to \(upstream) again, which runs only once and would repeat "
      + "its first result; wrap the making of it in Deferred, and share what the pipeline gives, not what it gets."
  }
}

extension UnrepeatableUpstream: LocalizedError {
  /// That it is the program's fault, for people; the description says which.
  public var errorDescription: String? { ProgramMistake.words }
  /// What to do next, for people.
  public var recoverySuggestion: String? { ProgramMistake.suggestion }
}

extension UnrepeatableUpstream: PolicyDecision {
  /// That of pipelines.
  public static var kind: PolicyKind { .pipeline }
  /// An error: nothing goes as it was meant.
  public var severity: PolicyEvent.Severity { .error }
  /// The word is "misuse".
  public var word: String { "misuse" }
  /// One line for a log: "misuse: Pipeline "weather": its retry would subscribe to Future again, …".
  public var text: String { "misuse: \(self)" }
}

extension PolicyKind {
  /// That of a ``Pipeline`` itself.
  public static let pipeline = PolicyKind("pipeline")
}

extension Pipeline {
  /// What is wrong with a publisher of this type under it; `nil` if nothing is known to be.
  func misuse<Upstream: Publisher>(by type: Upstream.Type) -> UnrepeatableUpstream? {
    // To look a type up takes as long as a whole stage, and subscriptions are made to the same types over and over.
    let number = UInt64(UInt(bitPattern: ObjectIdentifier(type)))
    if number == repeatableType.value { return nil }
    guard let repeatingStage else { return nil }
    if let shared = sharedExecution(in: type) {
      let stage = descriptor.stages[repeatingStage].kind
      return UnrepeatableUpstream(pipeline: name, stage: stage, upstream: "\(shared)")
    }
    repeatableType.set(number)
    return nil
  }
}

/// The type of publisher that was last found to be fine under any pipeline.
private let repeatableType = AtomicWord()

/// The publisher that shares one execution, somewhere up from a publisher of this type.
private func sharedExecution(in type: Any.Type) -> Any.Type? {
  var (type, mayCancel) = (type, false)
  while let operation = type as? any PassingOn.Type {
    if operation is any Cancelling.Type { mayCancel = true }
    type = operation.upstream
  }
  // What is shared is begun anew by who comes after all have cancelled.
  let runsOnce = mayCancel ? type is any RunningOnce.Type : type is any SharingOneExecution.Type
  return runsOnce ? type : nil
}

/// A publisher that runs once for all its subscribers, one after the other too.
private protocol SharingOneExecution {}

/// A publisher that runs once, also if all its subscribers cancel.
private protocol RunningOnce: SharingOneExecution {}

extension Future: RunningOnce {}
extension Publishers.Share: SharingOneExecution {}
extension Publishers.Multicast: SharingOneExecution {}

/// An operator that subscribes to its upstream once for each of its own subscribers, and to nothing else: what comes in the
/// place of a failure (`catch`, `recover`) may be made anew each time.
private protocol PassingOn {
  static var upstream: Any.Type { get }
}

/// An operator that may end by a cancel of its upstream.
private protocol Cancelling: PassingOn {}

extension Publishers.Autoconnect: PassingOn { static var upstream: Any.Type { Upstream.self } }
extension Publishers.Map: PassingOn { static var upstream: Any.Type { Upstream.self } }
extension Publishers.TryMap: Cancelling { static var upstream: Any.Type { Upstream.self } }
extension Publishers.MapError: PassingOn { static var upstream: Any.Type { Upstream.self } }
extension Publishers.SetFailureType: PassingOn { static var upstream: Any.Type { Upstream.self } }
extension Publishers.MapKeyPath: PassingOn { static var upstream: Any.Type { Upstream.self } }
extension Publishers.MapKeyPath2: PassingOn { static var upstream: Any.Type { Upstream.self } }
extension Publishers.MapKeyPath3: PassingOn { static var upstream: Any.Type { Upstream.self } }
extension Publishers.Filter: PassingOn { static var upstream: Any.Type { Upstream.self } }
extension Publishers.TryFilter: Cancelling { static var upstream: Any.Type { Upstream.self } }
extension Publishers.RemoveDuplicates: PassingOn { static var upstream: Any.Type { Upstream.self } }
extension Publishers.CompactMap: PassingOn { static var upstream: Any.Type { Upstream.self } }
extension Publishers.TryCompactMap: Cancelling { static var upstream: Any.Type { Upstream.self } }
extension Publishers.First: Cancelling { static var upstream: Any.Type { Upstream.self } }
extension Publishers.Decode: Cancelling { static var upstream: Any.Type { Upstream.self } }
extension Publishers.ReplaceError: PassingOn { static var upstream: Any.Type { Upstream.self } }
extension Publishers.Print: PassingOn { static var upstream: Any.Type { Upstream.self } }
extension Publishers.Buffer: PassingOn { static var upstream: Any.Type { Upstream.self } }
extension Publishers.HandleEvents: PassingOn { static var upstream: Any.Type { Upstream.self } }
extension Publishers.ReceiveOn: PassingOn { static var upstream: Any.Type { Upstream.self } }
extension Publishers.SubscribeOn: PassingOn { static var upstream: Any.Type { Upstream.self } }
extension Publishers.Delay: PassingOn { static var upstream: Any.Type { Upstream.self } }
extension Publishers.Timeout: Cancelling { static var upstream: Any.Type { Upstream.self } }
extension Publishers.WithPolicy: Cancelling { static var upstream: Any.Type { Upstream.self } }
