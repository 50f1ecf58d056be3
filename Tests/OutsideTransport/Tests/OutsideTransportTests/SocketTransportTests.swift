#if os(Linux)
  import Foundation
  import OutsideTransport
  import ReboundHTTP
  import ReboundHTTPTesting
  import Testing

  @Suite("A transport that is written outside of the package", .timeLimit(.minutes(10)))
  struct SocketTransportTests {
    @Test("keeps every promise, but for reused connections, codings and TLS")
    func contract() async throws {
      let contract = TransportContract(lacking: [.connectionReuse, .contentCodings, .tls]) {
        SocketTransport(time: $0, reachability: $1)
      }
      let coverage = try await contract.verify()
      #expect(coverage.gaps.map(\.reason) == ["it lacks connectionReuse", "it lacks contentCodings", "it lacks tls"])
      #expect(coverage.proven.count > 400, "\(coverage)")
    }

    @Test("that asks from a task gets of a file what there was when its length was told")
    func pieces() async throws {
      let file = FileManager.default.temporaryDirectory.appending(path: "outside-\(UUID().uuidString)")
      defer { try? FileManager.default.removeItem(at: file) }
      try Data(count: 100_000).write(to: file)
      let body = TransportBody.file(file).measured
      let pieces = try BodyPieces(body)
      let handle = try FileHandle(forWritingTo: file)
      try handle.seekToEnd()
      try handle.write(contentsOf: Data("more".utf8))
      try handle.close()
      var count = 0
      while let piece = try await pieces.next() { count += piece.count }
      #expect(count == 100_000)
      #expect(body.length == 100_000 && pieces.count == 100_000)
    }
  }
#endif
