import Expectations
import Foundation
import Testing

/// Many requests that meet faults by chance leave nothing behind.
///
/// Each run has a process of its own: what is counted is what the process holds. The usual ones send 10,000 requests in
/// all, scripts/stress-http --long 100,000 through each transport; REBOUND_FAULT_REQUESTS sets how many each run sends, and
/// REBOUND_FAULT_SEEDS which runs there are, as numbers apart by commas. Each adds a line to the file that
/// REBOUND_FAULT_REPORT names.
#if os(Linux)
  @Suite("Random faults", .timeLimit(.minutes(10)), .serialized)
  struct RandomFaultTests {
    private static let environment = ProcessInfo.processInfo.environment
    static let seeds = environment["REBOUND_FAULT_SEEDS"]?.split(separator: ",").compactMap { UInt64($0) } ?? [1, 2]
    static let requestCount = environment["REBOUND_FAULT_REQUESTS"].flatMap { Int($0) } ?? 2500

    @Test("leave no object, no descriptor and no memory behind", arguments: TransportKind.allCases, seeds)
    func leaveNothing(kind: TransportKind, seed: UInt64) async {
      await #expect(processExitsWith: .success) { [kind, seed] in
        let run = RandomFaultRun(kind: kind, seed: seed, requestCount: RandomFaultTests.requestCount)
        let left = try await run.run()
        try RandomFaultTests.report("\(kind.rawValue), seed \(seed): \(left)")
        // Of what is expected in another process nothing but its comment is seen in this one.
        expectEqual(left.objects, 0, "\(left)")
        #expect(left.descriptors <= 0, "\(left) \(ProcessResources.descriptorNames)")
        #expect(left.threads <= RandomFaultRun.allowedThreads, "\(left)")
        #expect(left.idled <= run.allowedIdled(after: left.requests), "\(left)")
        // The sanitizers keep what was freed, to see who uses it.
        #if !ASAN && !TSAN
          #expect(left.memory <= run.allowedMemory(after: left.requests), "\(left)")
        #endif
      }
    }

    private static func report(_ line: String) throws {
      guard let path = environment["REBOUND_FAULT_REPORT"] else { return }
      let file = URL(filePath: path)
      let before = (try? Data(contentsOf: file)) ?? Data()
      try (before + Data("\(line)\n".utf8)).write(to: file)
    }
  }
#endif
