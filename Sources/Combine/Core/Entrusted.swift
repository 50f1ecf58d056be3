/// A subscriber that can do without precautions of its own if its source makes a promise.
///
/// The promise: when the subscription was cancelled or has ended, the source and all between it and the subscriber let go
/// of the subscriber, as soon as no event is inside. A source that keeps it calls ``entrust()`` on its direct subscriber
/// before it attaches it; an operator that holds its downstream as long as it is held itself passes the call on. Foreign
/// operators do not, so behind them nobody is entrusted.
///
/// The promise is about when things are released. No memory is unsafe if it is broken.
@usableFromInline
protocol Entrusted {
  func entrust()
}

/// Entrusts a subscriber that knows how.
///
/// Where the code is specialised and the subscriber knows, that is settled at compile time; to find at run time that it
/// does not know takes long. So operators that come and go by the thousand say so by a conformance that does nothing.
@inlinable @inline(__always)
func entrust<S: Subscriber>(_ subscriber: S) {
  (subscriber as? any Entrusted)?.entrust()
}

extension PassThroughSubscriber: Entrusted {
  @inlinable @inline(__always)
  func entrust() {
    Combine.entrust(downstream)
  }
}

extension MachineSubscriber: Entrusted {
  @inlinable @inline(__always)
  func entrust() {
    Combine.entrust(downstream)
  }
}

extension AutoconnectSubscriber: Entrusted {
  @inlinable @inline(__always)
  func entrust() {
    Combine.entrust(downstream)
  }
}

extension MulticastSubscriber: Entrusted {
  @inlinable @inline(__always)
  func entrust() {
    Combine.entrust(downstream)
  }
}

extension AnySubscriber: Entrusted {
  @inlinable
  func entrust() {
    erased.entrust()
  }
}

extension JoinInput: Entrusted {
  @inlinable @inline(__always)
  func entrust() {
    parent.entrustInput()
  }
}

extension FlatMapSubscriber.InnerSubscriber: Entrusted {
  // The other inner publishers know nothing of the promise.
  @inlinable @inline(__always)
  func entrust() {}
}
