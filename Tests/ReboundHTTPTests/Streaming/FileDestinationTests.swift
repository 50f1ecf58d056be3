import Combine
import Dispatch
import Expectations
import Foundation
import ReboundHTTPTesting
import Testing

@testable import ReboundHTTP

@Suite("The file that a download goes into", .timeLimit(.minutes(10)))
struct FileDestinationTests {
  /// A destination that has got all of a file, and whose disk is busy with that until it is told to go on.
  private final class BusyDisk: Sendable {
    let destination: FileDestination
    private let folder = TemporaryFolder()
    private let mayGoOn: DispatchSemaphore

    var file: URL { folder.url.appending(path: "file") }
    var content: Data? { try? Data(contentsOf: file) }

    init() async throws {
      try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
      let mayGoOn = DispatchSemaphore(value: 0)
      self.mayGoOn = mayGoOn
      destination = FileDestination(
        folder.url.appending(path: "file"),
        verifying: .custom { _ in
          mayGoOn.wait()
          return true
        }
      )
      let request = TransportRequest(.service)
      let prepared = await withCheckedContinuation { continuation in
        destination.prepare(request) { continuation.resume(returning: $0) }
      }
      _ = try prepared.get()
      try destination.begin(ResponseHead(status: 200, url: request.url)) { _ in }
      destination.receive(Data("old".utf8))
      destination.finish { _ in }
    }

    /// Lets the disk go on, with this file and with the next.
    func goOn() {
      for _ in 1...2 { mayGoOn.signal() }
    }
  }

  private func calls(_ transport: ScriptedTransport, into destination: FileDestination) -> CallPublisher<Int> {
    let client = WebAPIClient(baseURL: .service, transport: transport, deliveringOn: nil)
    return CallPublisher { () throws(NetworkFailure) in
      Call(try client.begin(RequestParts(Anything(), Anything().parser), nil, into: destination)) { $0.head.status }
    }
  }

  @Test("nobody waits for the disk who asks for it, and nothing is sent before the disk has said what is there")
  func busy() async throws {
    let disk = try await BusyDisk()
    let transport = ScriptedTransport([.ok("new")])
    let statuses = ValueLog<Int>()
    let running = calls(transport, into: disk.destination)
      .sink { _ in
      } receiveValue: {
        statuses.append($0)
      }
    expectEqual(transport.count, 0)
    disk.goOn()
    while statuses.values.isEmpty, !Task.isCancelled { await Task.yield() }
    expectEqual(transport.count, 1)
    expectEqual(disk.content, Data("new".utf8))
    running.cancel()
  }

  @Test("a cancel while the disk is asked sends nothing, tells nothing, and leaves the place to others")
  func cancelWhileAsking() async throws {
    let disk = try await BusyDisk()
    let transport = ScriptedTransport([.ok("new")])
    let ends = ValueLog<Void>()
    let running = calls(transport, into: disk.destination)
      .sink { _ in
        ends.append(())
      } receiveValue: { _ in
        ends.append(())
      }
    running.cancel()
    disk.goOn()
    // Behind all that the call had the disk do. If the part were still open, it would be put in the file's place.
    await withCheckedContinuation { continuation in disk.destination.finish { _ in continuation.resume() } }
    expectEqual(transport.count, 0)
    #expect(ends.values.isEmpty)
    expectEqual(disk.content, Data("old".utf8))
    _ = try PartFile(for: disk.file)
  }
}
