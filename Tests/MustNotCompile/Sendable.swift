import Combine
import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

// Apple's module says of few types that they are sendable. Ours says it of the same ones: with more, code would compile
// here that does not there. `scripts/check-refused-code` has the compiler look whether it complains exactly where it is
// said to.

private func requireSendable<Value: Sendable>(_: Value.Type) {}

func sendable() {
  requireSendable(Subscribers.Demand.self)
  requireSendable(Subscribers.Completion<URLError>.self)
  requireSendable(URLSession.DataTaskPublisher.self)
  requireSendable(DispatchQueue.SchedulerTimeType.self)
  requireSendable(DispatchQueue.SchedulerOptions.self)
  requireSendable(OperationQueue.SchedulerTimeType.self)
  requireSendable(OperationQueue.SchedulerTimeType.Stride.self)
  requireSendable(OperationQueue.SchedulerOptions.self)
  requireSendable(RunLoop.SchedulerTimeType.self)
  requireSendable(RunLoop.SchedulerTimeType.Stride.self)
  requireSendable(RunLoop.SchedulerOptions.self)
}

func notSendable() {
  // Subjects, futures, subscribers and handles.
  // expected-error@+1 {{does not conform to the 'Sendable' protocol}}
  requireSendable(PassthroughSubject<Int, Never>.self)
  // expected-error@+1 {{does not conform to the 'Sendable' protocol}}
  requireSendable(CurrentValueSubject<Int, Never>.self)
  // expected-error@+1 {{does not conform to the 'Sendable' protocol}}
  requireSendable(Future<Int, Never>.self)
  // expected-error@+2 {{does not conform to the 'Sendable' protocol}}
  // expected-note@+1 {{a function type must be marked '@Sendable' to conform to 'Sendable'}}
  requireSendable(Future<Int, Never>.Promise.self)
  // expected-error@+1 {{does not conform to the 'Sendable' protocol}}
  requireSendable(ObservableObjectPublisher.self)
  // expected-error@+1 {{does not conform to the 'Sendable' protocol}}
  requireSendable(AnyCancellable.self)
  // expected-error@+1 {{does not conform to the 'Sendable' protocol}}
  requireSendable(AnySubscriber<Int, Never>.self)
  // expected-error@+1 {{does not conform to the 'Sendable' protocol}}
  requireSendable(Subscribers.Sink<Int, Never>.self)
  // expected-error@+1 {{does not conform to the 'Sendable' protocol}}
  requireSendable(Subscribers.Assign<NSObject, Int>.self)
  // expected-error@+1 {{does not conform to the 'Sendable' protocol}}
  requireSendable((any Subscription).self)
  // expected-error@+1 {{does not conform to the 'Sendable' protocol}}
  requireSendable((any Cancellable).self)
  // expected-error@+1 {{does not conform to the 'Sendable' protocol}}
  requireSendable(CombineIdentifier.self)

  // Publishers, also those that hold nothing but sendable values.
  // expected-error@+1 {{does not conform to the 'Sendable' protocol}}
  requireSendable(Just<Int>.self)
  // expected-error@+1 {{does not conform to the 'Sendable' protocol}}
  requireSendable(Empty<Int, Never>.self)
  // expected-error@+1 {{does not conform to the 'Sendable' protocol}}
  requireSendable(Fail<Int, URLError>.self)
  // expected-error@+1 {{does not conform to the 'Sendable' protocol}}
  requireSendable(Deferred<Just<Int>>.self)
  // expected-error@+1 {{does not conform to the 'Sendable' protocol}}
  requireSendable(Record<Int, Never>.self)
  // expected-error@+1 {{does not conform to the 'Sendable' protocol}}
  requireSendable(Record<Int, Never>.Recording.self)
  // expected-error@+1 {{does not conform to the 'Sendable' protocol}}
  requireSendable(Optional<Int>.Publisher.self)
  // expected-error@+1 {{does not conform to the 'Sendable' protocol}}
  requireSendable(Result<Int, URLError>.Publisher.self)
  // expected-error@+1 {{does not conform to the 'Sendable' protocol}}
  requireSendable(AnyPublisher<Int, Never>.self)
  // expected-error@+1 {{does not conform to the 'Sendable' protocol}}
  requireSendable(Published<Int>.self)
  // expected-error@+1 {{does not conform to the 'Sendable' protocol}}
  requireSendable(Published<Int>.Publisher.self)
  // expected-error@+1 {{does not conform to the 'Sendable' protocol}}
  requireSendable(AsyncPublisher<Just<Int>>.self)
  // expected-error@+1 {{does not conform to the 'Sendable' protocol}}
  requireSendable(AsyncPublisher<Just<Int>>.Iterator.self)
  // expected-error@+1 {{does not conform to the 'Sendable' protocol}}
  requireSendable(AsyncThrowingPublisher<Just<Int>>.self)
  // expected-error@+1 {{does not conform to the 'Sendable' protocol}}
  requireSendable(AsyncThrowingPublisher<Just<Int>>.Iterator.self)
  // expected-error@+1 {{does not conform to the 'Sendable' protocol}}
  requireSendable(NotificationCenter.Publisher.self)
  // expected-error@+1 {{does not conform to the 'Sendable' protocol}}
  requireSendable(Timer.TimerPublisher.self)
  // expected-error@+1 {{does not conform to the 'Sendable' protocol}}
  requireSendable(Publishers.Sequence<[Int], Never>.self)
  // expected-error@+1 {{does not conform to the 'Sendable' protocol}}
  requireSendable(Publishers.Map<Just<Int>, Int>.self)
  // expected-error@+1 {{does not conform to the 'Sendable' protocol}}
  requireSendable(Publishers.MapKeyPath<Just<String>, Int>.self)
  // expected-error@+1 {{does not conform to the 'Sendable' protocol}}
  requireSendable(Publishers.Filter<Just<Int>>.self)
  // expected-error@+1 {{does not conform to the 'Sendable' protocol}}
  requireSendable(Publishers.Merge<Just<Int>, Just<Int>>.self)
  // expected-error@+1 {{does not conform to the 'Sendable' protocol}}
  requireSendable(Publishers.MergeMany<Just<Int>>.self)
  // expected-error@+1 {{does not conform to the 'Sendable' protocol}}
  requireSendable(Publishers.Zip<Just<Int>, Just<Int>>.self)
  // expected-error@+1 {{does not conform to the 'Sendable' protocol}}
  requireSendable(Publishers.CombineLatest<Just<Int>, Just<Int>>.self)
  // expected-error@+1 {{does not conform to the 'Sendable' protocol}}
  requireSendable(Publishers.FlatMap<Just<Int>, Just<Int>>.self)
  // expected-error@+1 {{does not conform to the 'Sendable' protocol}}
  requireSendable(Publishers.Concatenate<Just<Int>, Just<Int>>.self)
  // expected-error@+1 {{does not conform to the 'Sendable' protocol}}
  requireSendable(Publishers.Collect<Just<Int>>.self)
  // expected-error@+1 {{does not conform to the 'Sendable' protocol}}
  requireSendable(Publishers.First<Just<Int>>.self)
  // expected-error@+1 {{does not conform to the 'Sendable' protocol}}
  requireSendable(Publishers.Output<Just<Int>>.self)
  // expected-error@+1 {{does not conform to the 'Sendable' protocol}}
  requireSendable(Publishers.Drop<Just<Int>>.self)
  // expected-error@+1 {{does not conform to the 'Sendable' protocol}}
  requireSendable(Publishers.Retry<Just<Int>>.self)
  // expected-error@+1 {{does not conform to the 'Sendable' protocol}}
  requireSendable(Publishers.Share<Just<Int>>.self)
  // expected-error@+1 {{does not conform to the 'Sendable' protocol}}
  requireSendable(Publishers.MakeConnectable<Just<Int>>.self)
  // expected-error@+1 {{does not conform to the 'Sendable' protocol}}
  requireSendable(Publishers.Autoconnect<Publishers.MakeConnectable<Just<Int>>>.self)
  // expected-error@+1 {{does not conform to the 'Sendable' protocol}}
  requireSendable(Publishers.Delay<Just<Int>, ImmediateScheduler>.self)
  // expected-error@+1 {{does not conform to the 'Sendable' protocol}}
  requireSendable(Publishers.PrefetchStrategy.self)
  // expected-error@+1 {{does not conform to the 'Sendable' protocol}}
  requireSendable(Publishers.BufferingStrategy<Never>.self)
  // expected-error@+1 {{does not conform to the 'Sendable' protocol}}
  requireSendable(Publishers.TimeGroupingStrategy<ImmediateScheduler>.self)

  // Times.
  // expected-error@+1 {{does not conform to the 'Sendable' protocol}}
  requireSendable(DispatchQueue.SchedulerTimeType.Stride.self)
  // expected-error@+1 {{does not conform to the 'Sendable' protocol}}
  requireSendable(ImmediateScheduler.self)
  // expected-error@+1 {{does not conform to the 'Sendable' protocol}}
  requireSendable(ImmediateScheduler.SchedulerTimeType.self)
  // expected-error@+1 {{does not conform to the 'Sendable' protocol}}
  requireSendable(ImmediateScheduler.SchedulerTimeType.Stride.self)
}
