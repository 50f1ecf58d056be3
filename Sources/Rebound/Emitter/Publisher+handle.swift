import Combine
import StreamSupport

extension Publisher {
  /// For each value, and for the end, has a closure send what comes of it: an operator of one's own in a few lines.
  ///
  ///     extension Publisher {
  ///       func pairwise() -> some Publisher<(Output, Output), Failure> {
  ///         handle("Pairwise", remembering: Output?.none) { last, value, emitter in
  ///           if let last { emitter.send((last, value)) }
  ///           last = value
  ///         } completion: { _, end, emitter in
  ///           emitter.send(completion: end)
  ///         }
  ///       }
  ///     }
  ///
  /// As Reactor's `handle`, with a memory. What a closure sends is delivered when it has returned, and what it has the
  /// upstream send is handled after it, so nothing comes back into it. A closure that sends the end is called no more, and the upstream is cancelled.
  ///
  /// - Parameters:
  ///   - name: The operator's, for logs and mirrors.
  ///   - memory: What each subscription begins with, and then changes.
  ///   - value: Called with each value.
  ///   - completion: Called with the upstream's end. It sends the end, or else the subscriber waits for ever.
  ///
  /// - Demand: Passes up. A value for which nothing is sent is made good. What is sent beyond the demand is kept, or dropped,
  ///   as the closure says (``Emitter/send(_:)``, ``Emitter/sendIfRequested(_:)``).
  /// - Failure: What the closures send.
  /// - Threads: Where the upstream sends, or where what is kept is requested.
  public func handle<Memory, NewOutput, NewFailure: Error>(
    _ name: String = "Handle",
    remembering memory: Memory,
    value: @escaping (inout Memory, Output, Emitter<NewOutput, NewFailure>) -> Void,
    completion: @escaping (inout Memory, Subscribers.Completion<Failure>, Emitter<NewOutput, NewFailure>) -> Void
  ) -> some Publisher<NewOutput, NewFailure> {
    Handle(upstream: self, name: name, memory: memory, value: value, completion: completion)
  }
}

extension Publisher {
  /// The same without a memory.
  ///
  /// See ``Combine/Publisher/handle(_:remembering:value:completion:)`` for demand, failure and threads.
  ///
  /// - Parameters:
  ///   - name: The operator's, for logs and mirrors.
  ///   - value: Called with each value.
  ///   - completion: Called with the upstream's end, and sends the end.
  public func handle<NewOutput, NewFailure: Error>(
    _ name: String = "Handle",
    value: @escaping (Output, Emitter<NewOutput, NewFailure>) -> Void,
    completion: @escaping (Subscribers.Completion<Failure>, Emitter<NewOutput, NewFailure>) -> Void
  ) -> some Publisher<NewOutput, NewFailure> {
    handle(name, remembering: ()) { _, input, emitter in
      value(input, emitter)
    } completion: { _, end, emitter in
      completion(end, emitter)
    }
  }
}

/// A publisher whose values and end closures have an emitter send.
private struct Handle<Upstream: Publisher, Memory, Output, Failure: Error>: Publisher {
  let upstream: Upstream
  let name: String
  let memory: Memory
  let value: (inout Memory, Upstream.Output, Emitter<Output, Failure>) -> Void
  let completion: (inout Memory, Subscribers.Completion<Upstream.Failure>, Emitter<Output, Failure>) -> Void

  func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
    upstream.subscribe(HandleSubscriber(self, Emitter(named: name, to: subscriber)))
  }
}

/// The subscriber of what is upstream of an emitter.
///
/// Values and the end come one after the other, and never inside of a closure: what the closure sends waits for its return,
/// and so does what it has the upstream send.
private final class HandleSubscriber<Upstream: Publisher, Memory, Output, Failure: Error>: Subscriber,
  CustomStringConvertible
{
  private enum Event {
    case value(Upstream.Output)
    case completion(Subscribers.Completion<Upstream.Failure>)
  }

  private let recipe: Handle<Upstream, Memory, Output, Failure>
  private let emitter: Emitter<Output, Failure>
  private var memory: Memory
  /// Entered while a closure runs, which has the memory to itself, and what has come since it began.
  private var loop = DrainLoop()
  private var waiting = Queue<Event>()

  init(_ recipe: Handle<Upstream, Memory, Output, Failure>, _ emitter: Emitter<Output, Failure>) {
    self.recipe = recipe
    self.emitter = emitter
    memory = recipe.memory
  }

  var description: String { emitter.description }

  func receive(subscription: any Subscription) {
    let isFirst = emitter.begin(
      whenRequested: { subscription.request($1) },
      whenCancelled: { subscription.cancel() }
    )
    if !isFirst { subscription.cancel() }
  }

  func receive(_ input: Upstream.Output) -> Subscribers.Demand { take(.value(input)) }

  func receive(completion: Subscribers.Completion<Upstream.Failure>) { _ = take(.completion(completion)) }

  /// Runs the closures for an event, and for all that comes meanwhile.
  ///
  /// - Returns: As many values as nothing was sent for.
  private func take(_ event: Event) -> Subscribers.Demand {
    waiting.append(event)
    guard loop.enter() else { return .none }
    var missing = Subscribers.Demand.none
    while let event = loop.next(waiting.popFirst()) { missing += run(event) }
    emitter.drain()
    return missing
  }

  private func run(_ event: Event) -> Subscribers.Demand {
    guard emitter.takesMore else { return .none }
    switch event {
    case .value(let input):
      let hasSent = emitter.holding { recipe.value(&memory, input, emitter) }
      if !emitter.takesMore { emitter.letGoOfSource(cancelling: true) }
      return hasSent ? .none : .max(1)
    case .completion(let end):
      emitter.letGoOfSource(cancelling: false)
      _ = emitter.holding { recipe.completion(&memory, end, emitter) }
      return .none
    }
  }
}
