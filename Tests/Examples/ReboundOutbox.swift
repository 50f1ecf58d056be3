import Foundation
import Rebound
import ReboundOutbox

// What the examples in the doc comments of ReboundOutbox take for granted, besides those of the policies.
// With Rebound.

struct Shop: Sendable {
  func place(_: Order, idempotencyKey: String) async -> OutboxVerdict { .delivered }
}

enum OutboxExamples {
  static let shop = Shop()
  static let order = Order()
}
