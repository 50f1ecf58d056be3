import Combine

private final class Target {
  private let stage: Stage

  init(_ stage: Stage) {
    self.stage = stage
  }

  var number: Int {
    get { 0 }
    set { _ = stage.receive(value: "\(newValue)") }
  }
}

extension Registration {
  static let subscribers: [Registration] = [
    Registration(subscriber: "Sink", .sink, as: "Sink") { stage in
      let sink = Subscribers.Sink<Int, ContractFailure>(
        receiveCompletion: { [unowned stage] in stage.receive(end: $0 == .finished ? "end" : "error") },
        receiveValue: { [unowned stage] in _ = stage.receive(value: "\($0)") }
      )
      return (AnySubscriber(sink), sink, sink.cancel)
    },
    Registration(subscriber: "Assign", .sink, as: "Assign Target.", ["object", "keyPath", "status"], fails: false) {
      stage in
      let assign = Subscribers.Assign(object: Target(stage), keyPath: \.number)
      return (Stage.failing(assign), assign, assign.cancel)
    },
    Registration(
      subscriber: "subject",
      .sink,
      as: "Subject",
      ["downstreamSubject", "upstreamSubscription", "subject"],
      cancels: false
    ) { stage in
      let subject = PassthroughSubject<Int, ContractFailure>()
      let sink = subject.sink(
        receiveCompletion: { [unowned stage] in stage.receive(end: $0 == .finished ? "end" : "error") },
        receiveValue: { [unowned stage] in _ = stage.receive(value: "\($0)") }
      )
      stage.keep(subject, sink)
      let subscriber = AnySubscriber(subject)
      return (subscriber, subscriber, {})
    },
    Registration(subscriber: "AnySubscriber", .sink, as: "Anonymous AnySubscriber", cancels: false) { stage in
      let subscriber = AnySubscriber<Int, ContractFailure>(
        receiveSubscription: { $0.request(.unlimited) },
        receiveValue: { [unowned stage] in stage.receive(value: "\($0)") },
        receiveCompletion: { [unowned stage] in stage.receive(end: $0 == .finished ? "end" : "error") }
      )
      return (subscriber, subscriber, {})
    },
  ]
}
