import Attempts
import WebServer

/// One app of a page: what stands behind a tab.
///
/// It lives on its session's queue, and says there when what it shows is about to change.
protocol Scene: AnyObject {
  /// What the page draws.
  var screen: any Encodable { get }
  /// What its client measures; says by itself when that changes.
  var metrics: ClientMetrics { get }
  /// The last requests, oldest first.
  var runs: [RecordedRun] { get }
  /// Keeps what went over the network for them.
  var recorder: RunRecorder { get }

  /// A request as a test sends it again; `nil` if it can't be written down.
  ///
  /// - Parameters:
  ///   - run: The request.
  ///   - exchanges: What went over the network for it.
  func inSwift(_ run: RecordedRun, _ exchanges: RunRecorder.Exchanges) -> RequestInSwift?
}

extension Scene {
  /// The failure of a run as a test.
  ///
  /// - Parameters:
  ///   - id: The number of the run.
  ///   - calls: The ids of its calls.
  func test(ofRun id: Int, calls: Set<String>) throws -> SavedRun {
    guard let run = runs.last(where: { $0.id == id }) else {
      throw HTTPError(404, "There is no such request any more; the last 50 are kept.")
    }
    let exchanges = try recorder.exchanges(of: calls)
    return try SavedRun(
      of: run,
      as: inSwift(run, exchanges),
      of: metrics.app,
      exchanges: exchanges,
      calls: calls.count
    )
  }
}
