import Combine

private struct Pair {
  var a: Int { 1 }
  var b: Int { 2 }
  var c: Int { 3 }
}

extension Registration {
  static let passThroughs: [Registration] = [
    Registration("map", .passThrough, as: "Map", gives: "2") { $0.upstream().map { $0 + 1 } },
    Registration("map(a)", .passThrough, as: "ValueForKey", ["keyPath"]) {
      $0.upstream().map(\.magnitude)
    },
    Registration("map(a, b)", .passThrough, as: "ValueForKeys", ["keyPath0", "keyPath1"], gives: "(1,-2)") {
      $0.upstream().map(\.self, \.bitInverse)
    },
    Registration(
      "map(a, b, c)",
      .passThrough,
      as: "ValueForKeys",
      ["keyPath0", "keyPath1", "keyPath2"],
      gives: "(1,1,-2)"
    ) { $0.upstream().map(\.self, \.self, \.bitInverse) },
    Registration("mapError", .passThrough, as: "MapError") { $0.upstream().mapError { $0 } },
    Registration("setFailureType", .passThrough, as: "SetFailureType", fails: false) {
      $0.faultless().setFailureType(to: ContractFailure.self)
    },
    Registration("filter", .passThrough, as: "Filter", skips: 2) { $0.upstream().filter { $0 == 1 } },
    Registration("compactMap", .passThrough, as: "CompactMap", skips: 2) {
      $0.upstream().compactMap { $0 == 1 ? $0 : nil }
    },
    Registration("scan", .passThrough, as: "Scan", ["downstream", "result"]) { $0.upstream().scan(0) { $1 } },
    Registration("assertNoFailure", .passThrough, as: "AssertNoFailure", ["file", "line", "prefix"], fails: false) {
      $0.upstream().assertNoFailure()
    },
    Registration("breakpoint", .passThrough, as: "Breakpoint") {
      $0.upstream().breakpoint(receiveOutput: { _ in false })
    },
    Registration("ignoreOutput", .ignoring, as: "IgnoreOutput") { $0.upstream().ignoreOutput() },
    Registration("eraseToAnyPublisher", .passThrough, as: nil) { $0.upstream().eraseToAnyPublisher() },
    Registration("Deferred", .passThrough, as: nil) { stage in
      let upstream = stage.upstream()
      return Deferred { upstream }
    },
  ]
}

extension Int {
  fileprivate var bitInverse: Int { ~self }
}
