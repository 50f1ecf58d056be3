import Combine

/// A coder whose data is the number itself.
private struct PlainCoder: TopLevelEncoder, TopLevelDecoder {
  func encode<T: Encodable>(_ value: T) throws -> Int {
    guard let number = value as? Int, number != 3 else { throw ContractFailure.expected }
    return number
  }

  func decode<T: Decodable>(_ type: T.Type, from data: Int) throws -> T {
    guard data != 3, let value = data as? T else { throw ContractFailure.expected }
    return value
  }
}

/// Swallows what is printed.
private struct Nowhere: TextOutputStream {
  mutating func write(_ string: String) {}
}

extension Registration {
  static let stateful: [Registration] = [
    Registration("tryMap", .lenient, as: "TryMap", endsAt: 3, throwing: true) {
      $0.upstream().tryMap { if $0 == 3 { throw ContractFailure.expected } else { $0 } }
    },
    Registration("tryScan", .lenient, as: "TryScan", ["downstream", "status", "result"], endsAt: 3, throwing: true) {
      $0.upstream().tryScan(0) { if $1 == 3 { throw ContractFailure.expected } else { $1 } }
    },
    Registration(
      "encode",
      .coding,
      as: "Encode",
      ["downstream", "finished", "upstreamSubscription"],
      endsAt: 3,
      throwing: true
    ) {
      $0.upstream().mapError { $0 as any Error }.encode(encoder: PlainCoder())
    },
    Registration(
      "decode",
      .coding,
      as: "Decode",
      ["downstream", "finished", "upstreamSubscription"],
      endsAt: 3,
      throwing: true
    ) {
      $0.upstream().mapError { $0 as any Error }.decode(type: Int.self, decoder: PlainCoder())
    },
    Registration("drop(while:)", .stateful, as: "DropWhile", skips: 2) { $0.upstream().drop { $0 != 1 } },
    Registration("tryDrop(while:)", .stateful, as: "TryDropWhile", skips: 2, endsAt: 3, throwing: true) {
      $0.upstream().tryDrop { if $0 == 3 { throw ContractFailure.expected } else { $0 != 1 } }
    },
    Registration("dropFirst", .stateful, as: "Drop") { $0.upstream().dropFirst(1) },
    Registration("prefix", .lenient, as: "Output") { $0.upstream().prefix(5) },
    Registration("drop(untilOutputFrom:)", .stateful, as: "DropUntilOutput", sides: 2) {
      $0.upstream().drop(untilOutputFrom: $0.upstream())
    },
    Registration("prefix(untilOutputFrom:)", .stateful, as: nil, sides: 2) {
      $0.upstream().prefix(untilOutputFrom: $0.upstream())
    },
    Registration("replaceEmpty", .stateful, as: "ReplaceEmpty") { $0.upstream().replaceEmpty(with: 9) },
    Registration(
      "collect(1)",
      .stateful,
      as: "CollectByCount",
      ["downstream", "upstreamSubscription", "buffer", "count"],
      gives: "[1]"
    ) { $0.upstream().collect(1) },
    Registration(
      "collect(2)",
      .stateful,
      as: "CollectByCount",
      ["downstream", "upstreamSubscription", "buffer", "count"],
      without: Set(Law.allCases).subtracting([.subscription, .heldAtCancel, .cancelBeforeUpstream])
    ) { $0.upstream().collect(2) },
    Registration("buffer", .stateful, as: "Buffer", ["values", "state", "downstreamDemand", "terminal"]) {
      $0.upstream().buffer(size: 4, prefetch: .keepFull, whenFull: .dropNewest)
    },
    Registration("catch", .counting, as: "Catch", ["downstream", "demand"]) { $0.upstream().catch { _ in Just(9) } },
    Registration("tryCatch", .counting, as: "TryCatch", ["downstream", "demand"]) {
      $0.upstream().tryCatch { _ in Just(9).setFailureType(to: ContractFailure.self) }
    },
    Registration("retry", .counting, as: "Retry") { $0.upstream().retry(0) },
    Registration("replaceError", .counting, as: "ReplaceError") { $0.upstream().replaceError(with: 9) },
    Registration("handleEvents", .watching, as: "HandleEvents") { $0.upstream().handleEvents() },
    Registration("print", .watching, as: "Print") { $0.upstream().print("", to: Nowhere()) },
  ]

  static let sharing: [Registration] = [
    Registration("multicast", .sharing, as: "Multicast", connecting: { $0.connect() }) {
      $0.upstream().multicast { PassthroughSubject() }
    },
    Registration("makeConnectable", .sharing, as: "Multicast", fails: false, connecting: { $0.connect() }) {
      $0.faultless().makeConnectable()
    },
    Registration("share", .sharing, as: nil) { $0.upstream().share() },
    Registration("autoconnect", .sharing, as: nil) {
      $0.upstream().multicast { PassthroughSubject() }.autoconnect()
    },
  ]

  static let timing: [Registration] = [
    Registration("receive(on:)", .hop, as: "ReceiveOn") { $0.upstream().receive(on: $0.scheduler) },
    Registration("delay", .hop, as: nil) { $0.upstream().delay(for: 0.5, scheduler: $0.scheduler) },
    Registration("subscribe(on:)", .stateful, as: "SubscribeOn") { $0.upstream().subscribe(on: $0.scheduler) },
    Registration("debounce", .sampling, as: "Debounce", ["downstream", "downstreamDemand", "currentValue"]) {
      $0.upstream().debounce(for: 0.5, scheduler: $0.scheduler)
    },
    Registration("throttle", .sampling, as: "Throttle") {
      $0.upstream().throttle(for: 0.5, scheduler: $0.scheduler, latest: true)
    },
    Registration("timeout", .hop, as: "Timeout") { $0.upstream().timeout(100, scheduler: $0.scheduler) },
    Registration("measureInterval", .stateful, as: "MeasureInterval", gives: "2.0s") {
      $0.upstream().measureInterval(using: $0.scheduler)
    },
    Registration("collect(byTime)", .stateful, as: nil, gives: "[1]") {
      $0.upstream().collect(.byTime($0.scheduler, 0.5))
    },
  ]
}
