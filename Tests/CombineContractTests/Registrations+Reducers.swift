import Combine

private let labels: [String?] = ["downstream", "result", "initial", "status"]

extension Registration {
  static let filters: [Registration] = [
    Registration("tryFilter", .filter, as: "TryFilter", ["downstream"], skips: 2, endsAt: 3, throwing: true) {
      $0.upstream().tryFilter { if $0 == 3 { throw ContractFailure.expected } else { $0 == 1 } }
    },
    Registration("tryCompactMap", .filter, as: "TryCompactMap", ["downstream"], skips: 2, endsAt: 3, throwing: true) {
      $0.upstream().tryCompactMap { if $0 == 3 { throw ContractFailure.expected } else { $0 == 1 ? 1 : nil } }
    },
    Registration("prefix(while:)", .filter, as: "PrefixWhile", ["downstream"], endsAt: 2) {
      $0.upstream().prefix { $0 == 1 }
    },
    Registration("tryPrefix(while:)", .filter, as: "TryPrefixWhile", ["downstream"], endsAt: 3, throwing: true) {
      $0.upstream().tryPrefix { if $0 == 3 { throw ContractFailure.expected } else { $0 == 1 } }
    },
    Registration("removeDuplicates", .filter, as: "RemoveDuplicates", ["downstream", "last"]) {
      $0.upstream().removeDuplicates { $0 != $1 }
    },
    Registration("tryRemoveDuplicates", .filter, as: "TryRemoveDuplicates", ["downstream", "last"]) {
      $0.upstream().tryRemoveDuplicates { $0 != $1 }
    },
  ]

  static let reducers: [Registration] = [
    Registration("reduce", .reducer, as: "Reduce", labels, gives: "12", ofNothing: "10") {
      $0.upstream().reduce(10, +)
    },
    Registration(
      "tryReduce",
      .reducer,
      as: "TryReduce",
      labels,
      gives: "12",
      ofNothing: "10",
      endsAt: 3,
      throwing: true
    ) {
      $0.upstream().tryReduce(10) { if $1 == 3 { throw ContractFailure.expected } else { $0 + $1 } }
    },
    Registration("collect", .reducer, as: "Collect", ["count"], gives: "[1,1]", ofNothing: "[]") {
      $0.upstream().collect()
    },
    Registration("count", .reducer, as: "Count", labels, gives: "2", ofNothing: "0") { $0.upstream().count() },
    Registration(
      "contains",
      .reducer,
      as: "Contains",
      labels,
      gives: "false",
      ofNothing: "false",
      endsAt: 3,
      with: "true"
    ) {
      $0.upstream().contains(3)
    },
    Registration(
      "contains(where:)",
      .reducer,
      as: "ContainsWhere",
      labels,
      gives: "false",
      ofNothing: "false",
      endsAt: 3,
      with: "true"
    ) {
      $0.upstream().contains { $0 == 3 }
    },
    Registration(
      "tryContains",
      .reducer,
      as: "TryContainsWhere",
      labels,
      gives: "false",
      ofNothing: "false",
      endsAt: 3,
      throwing: true
    ) {
      $0.upstream().tryContains { if $0 == 3 { throw ContractFailure.expected } else { false } }
    },
    Registration(
      "allSatisfy",
      .reducer,
      as: "AllSatisfy",
      labels,
      gives: "true",
      ofNothing: "true",
      endsAt: 3,
      with: "false"
    ) {
      $0.upstream().allSatisfy { $0 != 3 }
    },
    Registration(
      "tryAllSatisfy",
      .reducer,
      as: "TryAllSatisfy",
      labels,
      gives: "true",
      ofNothing: "true",
      endsAt: 3,
      throwing: true
    ) {
      $0.upstream().tryAllSatisfy { if $0 == 3 { throw ContractFailure.expected } else { true } }
    },
    Registration("first", .reducer, as: "First", labels, ofNothing: nil, endsAt: 3, with: "3") {
      $0.upstream().first()
    },
    Registration("first(where:)", .reducer, as: "TryFirst", labels, ofNothing: nil, endsAt: 3, with: "3") {
      $0.upstream().first { $0 == 3 }
    },
    Registration("tryFirst", .reducer, as: "TryFirstWhere", labels, ofNothing: nil, endsAt: 3, throwing: true) {
      $0.upstream().tryFirst { if $0 == 3 { throw ContractFailure.expected } else { false } }
    },
    Registration("last", .reducer, as: "Last", labels, ofNothing: nil) { $0.upstream().last() },
    Registration("last(where:)", .reducer, as: "LastWhere", labels, ofNothing: nil) { $0.upstream().last { $0 < 9 } },
    Registration("tryLast", .reducer, as: "TryLastWhere", labels, ofNothing: nil, endsAt: 3, throwing: true) {
      $0.upstream().tryLast { if $0 == 3 { throw ContractFailure.expected } else { true } }
    },
    Registration("min", .reducer, as: "Comparison", labels, ofNothing: nil) { $0.upstream().min() },
    Registration("tryMax", .reducer, as: "TryComparison", labels, ofNothing: nil) {
      $0.upstream().tryMax { $0 < $1 }
    },
  ]
}
