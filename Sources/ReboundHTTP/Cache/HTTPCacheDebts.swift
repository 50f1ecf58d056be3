/// What a storage was to forget, and has not yet.
struct HTTPCacheDebts {
  private static let most = 1_000

  var isAll = false
  var addresses: Set<String> = []

  mutating func owe(_ address: String) {
    addresses.insert(address)
    if addresses.count > HTTPCacheDebts.most { (isAll, addresses) = (true, []) }
  }
}
