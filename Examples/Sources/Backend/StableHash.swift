/// A hash that is the same in every run, which `hashValue` is not (FNV-1a, 64 bits).
func stableHash(of bytes: some Sequence<UInt8>) -> UInt64 {
  bytes.reduce(14_695_981_039_346_656_037) { ($0 ^ UInt64($1)) &* 1_099_511_628_211 }
}
