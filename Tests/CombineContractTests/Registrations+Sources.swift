import Combine

private final class Model: ObservableObject {
  @Published var number = 0
}

private let conduit: [String?] = ["parent", "downstream", "demand", "subject"]

extension Registration {
  static let sources: [Registration] = [
    Registration("Just", .once, as: "Just", [nil]) { _ in Just(1) },
    Registration("Optional.publisher", .once, as: "Optional", [nil]) { _ in Optional(1).publisher },
    Registration("Result.publisher", .once, as: "Once", [nil]) { _ in
      Result<Int, ContractFailure>.success(1).publisher
    },
    Registration("Future", .once, as: "Future", ["parent", "downstream", "hasAnyDemand", "subject"]) { _ in
      Future<Int, ContractFailure> { $0(.success(1)) }
    },
    Registration("Sequence", .once, as: "[1]", ["sequence"]) { _ in
      [1].publisher
    },
    Registration("Record", .once, as: "[1]", ["sequence", "completion"]) { _ in
      Record<Int, ContractFailure>(output: [1], completion: .finished)
    },
    Registration("Empty", .empty, as: "Empty", gives: "end") { _ in Empty<Int, ContractFailure>() },
    Registration("Fail", .empty, as: "Empty", gives: "error") { _ in Fail<Int, ContractFailure>(error: .expected) },
    Registration("PassthroughSubject", .subject, as: "PassthroughSubject", conduit) { stage in
      let subject = PassthroughSubject<Int, ContractFailure>()
      stage.feed = { subject.send($0) }
      stage.feedEnd = { subject.send(completion: $0) }
      return subject
    },
    Registration("CurrentValueSubject", .current, as: "CurrentValueSubject", conduit) { stage in
      let subject = CurrentValueSubject<Int, ContractFailure>(0)
      stage.feed = { subject.send($0) }
      stage.feedEnd = { subject.send(completion: $0) }
      return subject
    },
    Registration("Published", .current, as: "PublishedSubject", conduit) { stage in
      let model = Model()
      stage.feed = { model.number = $0 }
      return model.$number
    },
    Registration("ObservableObjectPublisher", .endless, as: "ObservableObjectPublisher", ["downstream"], gives: "()") {
      stage in
      let publisher = ObservableObjectPublisher()
      stage.feed = { _ in publisher.send() }
      return publisher
    },
  ]

  static let all =
    passThroughs + filters + reducers + stateful + sharing + timing + joins + sources + foundation
}
