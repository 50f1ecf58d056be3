import Combine
import ReboundTesting

extension Recorder {
  /// The subscription it holds; nil before there is one and after the end.
  var currentSubscription: (any Subscription)? {
    Mirror(reflecting: self).children.first { $0.label == "subscription" }?.value as? any Subscription
  }
}
