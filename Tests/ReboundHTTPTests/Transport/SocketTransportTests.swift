#if os(Linux)
  import ReboundHTTPTesting
  import Testing

  @Suite("A transport of one file", .timeLimit(.minutes(10)))
  struct SocketTransportTests {
    @Test("keeps every promise, but for reused connections, codings and TLS")
    func contract() async throws {
      let contract = TransportContract(lacking: [.connectionReuse, .contentCodings, .tls]) {
        SocketTransport(time: $0, reachability: $1)
      }
      try await contract.verify()
    }
  }
#endif
