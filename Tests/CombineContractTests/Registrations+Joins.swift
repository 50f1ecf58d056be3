import Combine

extension Registration {
  static let joins: [Registration] = [
    Registration("append", .stateful, as: "Concatenate") { $0.upstream().append(Empty()) },
    Registration("flatMap", .eager, as: "FlatMap") { $0.upstream().flatMap { Just($0) } },
    Registration("switchToLatest", .eager, as: "SwitchToLatest") { $0.upstream().map { Just($0) }.switchToLatest() },
    Registration("merge", .merge, as: "Merge", sides: 2) { Publishers.Merge($0.upstream(), $0.upstream()) },
    Registration("merge of 3", .merge, as: "Merge", sides: 3) {
      Publishers.Merge3($0.upstream(), $0.upstream(), $0.upstream())
    },
    Registration("merge of 4", .merge, as: "Merge", sides: 4) {
      Publishers.Merge4($0.upstream(), $0.upstream(), $0.upstream(), $0.upstream())
    },
    Registration("merge of 5", .merge, as: "Merge", sides: 5) {
      Publishers.Merge5($0.upstream(), $0.upstream(), $0.upstream(), $0.upstream(), $0.upstream())
    },
    Registration("merge of 6", .merge, as: "Merge", sides: 6) {
      Publishers.Merge6(
        $0.upstream(),
        $0.upstream(),
        $0.upstream(),
        $0.upstream(),
        $0.upstream(),
        $0.upstream()
      )
    },
    Registration("merge of 7", .merge, as: "Merge", sides: 7) {
      Publishers.Merge7(
        $0.upstream(),
        $0.upstream(),
        $0.upstream(),
        $0.upstream(),
        $0.upstream(),
        $0.upstream(),
        $0.upstream()
      )
    },
    Registration("merge of 8", .merge, as: "Merge", sides: 8) {
      Publishers.Merge8(
        $0.upstream(),
        $0.upstream(),
        $0.upstream(),
        $0.upstream(),
        $0.upstream(),
        $0.upstream(),
        $0.upstream(),
        $0.upstream()
      )
    },
    Registration("merge of many", .merge, as: "Merge", sides: 2) {
      Publishers.MergeMany($0.upstream(), $0.upstream())
    },
    Registration("zip", .zip, as: "Zip", sides: 2, gives: "(1,1)") { $0.upstream().zip($0.upstream()) },
    Registration("zip of 3", .zip, as: "Zip", sides: 3, gives: "(1,1,1)") {
      $0.upstream().zip($0.upstream(), $0.upstream())
    },
    Registration("zip of 4", .zip, as: "Zip", sides: 4, gives: "(1,1,1,1)") {
      $0.upstream().zip($0.upstream(), $0.upstream(), $0.upstream())
    },
    Registration(
      "combineLatest",
      .combineLatest,
      as: "CombineLatest",
      combineLatestLabels,
      sides: 2,
      gives: "(1,1)"
    ) { $0.upstream().combineLatest($0.upstream()) },
    Registration(
      "combineLatest of 3",
      .combineLatest,
      as: "CombineLatest",
      combineLatestLabels,
      sides: 3,
      gives: "(1,1,1)"
    ) { $0.upstream().combineLatest($0.upstream(), $0.upstream()) },
    Registration(
      "combineLatest of 4",
      .combineLatest,
      as: "CombineLatest",
      combineLatestLabels,
      sides: 4,
      gives: "(1,1,1,1)"
    ) { $0.upstream().combineLatest($0.upstream(), $0.upstream(), $0.upstream()) },
  ]
}

private let combineLatestLabels: [String?] = ["downstream", "upstreamSubscriptions", "demand", "buffers"]
