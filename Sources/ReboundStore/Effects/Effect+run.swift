import Combine
import Rebound
import StreamSupport

extension Effect {
  /// Runs a publisher that may fail, again if a policy says so; values and failure become actions.
  ///
  ///     Effect.run(service.animal(), retrying: .standard.when(\.isTransient)) { .fetched($0) }
  ///
  /// A publisher that fails with `CancellationError` has no action: a cancel is no failure.
  ///
  /// - Parameters:
  ///   - publisher: Subscribed to on the store's scheduler, and once more for each retry.
  ///   - policy: When to try again; `nil` never does. It waits by the store's time.
  ///   - retried: The action for an attempt that has failed and is followed by another one, so that the state can say
  ///     which attempt it is; `nil` for none. Called where the publisher fails.
  ///   - action: The action for each value, and for the failure after which there is no other attempt.
  public static func run<P: Publisher>(
    _ publisher: P,
    retrying policy: RetryPolicy<P.Failure>? = nil,
    onRetry retried: @escaping (RetryEvent) -> Action? = { _ in nil },
    into action: @escaping (Result<P.Output, P.Failure>) -> Action
  ) -> Effect {
    Effect(
      .publisher { context in
        func acting(_ publisher: some Publisher<P.Output, P.Failure>) -> AnyPublisher<Action, Never> {
          publisher.asResult()
            .compactMap { result in
              if case .failure(let error) = result, error is CancellationError { return nil }
              return action(result)
            }
            .eraseToAnyPublisher()
        }
        guard let policy else { return acting(publisher) }
        // The policy tells its events one at a time, and the store takes actions from any thread.
        let tell = Confined { (event: RetryEvent) in
          guard case .retrying = event.outcome, let action = retried(event) else { return }
          context.send(action)
        }
        return acting(publisher.retry(policy.onEvent { tell.value($0) }, time: context.home.timeAtHome))
      }
    )
  }

  /// Runs an asynchronous function that can't fail; what it returns is the action.
  ///
  /// Its task has the store's time: policies that are given none wait by it.
  ///
  /// - Parameter operation: One that returns `nil` has no action. Its task is cancelled with the effect.
  public static func task(_ operation: @escaping @Sendable () async -> Action?) -> Effect {
    Effect(
      .publisher { _ in
        Publishers.Asynchronous(operation)
          .compactMap { $0 }
          // It can't fail, but the publisher's type is for any function.
          .catch { _ in Empty() }
          .eraseToAnyPublisher()
      }
    )
  }

  /// Runs an asynchronous function that may fail, again if a policy says so; value or failure becomes an action.
  ///
  ///     Effect.task(retrying: .standard) { () async throws(AnimalFailure) in try await service.animal() } into: {
  ///       .fetched($0)
  ///     }
  ///
  /// A cancelled task has no action: a cancel is no failure.
  ///
  /// - Parameters:
  ///   - policy: When to try again; `nil` never does.
  ///   - time: Makes the pauses; `nil` is the store's.
  ///   - operation: One attempt. Its task is cancelled with the effect.
  ///   - action: The action for the value, or for the last failure.
  public static func task<Value, Failure: Error>(
    retrying policy: RetryPolicy<Failure>? = nil,
    time: TimeSource? = nil,
    _ operation: nonisolated(nonsending) @escaping @Sendable () async throws(Failure) -> Value,
    into action: @escaping @Sendable (Result<Value, Failure>) -> Action
  ) -> Effect {
    .task {
      do {
        return action(.success(try await (policy ?? .never).run(time: time, operation)))
      } catch let failure as Failure where !(failure is CancellationError) && !Task.isCancelled {
        return action(.failure(failure))
      } catch {
        // Only a cancel is left: the policy throws nothing else.
        return nil
      }
    }
  }
}
