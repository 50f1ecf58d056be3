/// One app of a page: what stands behind a tab.
///
/// It lives on its session's queue, and says there when what it shows is about to change.
protocol Scene: AnyObject {
  /// What the page draws.
  var screen: any Encodable { get }
  /// What its client measures; says by itself when that changes.
  var metrics: ClientMetrics { get }
}
