import Synchronization

/// How a sink stands, in one word: its upstream, whether it is over, and whether it is entrusted.
///
/// The word is the address of the upstream, of which one reference is held; objects are aligned, so its lowest bits are
/// free. Whoever ends a sink does so with one exchange, and learns at once what else was true at that moment.
@usableFromInline
struct SinkState: ~Copyable {
  @usableFromInline
  enum Flag {
    /// Whether the sink was cancelled or has ended.
    @inlinable static var over: UInt { 1 }
    /// Whether the closures go with the sink, not before.
    @inlinable static var entrusted: UInt { 2 }
    /// Whether it may be entrusted: not if its maker may keep it.
    @inlinable static var trustful: UInt { 4 }
    @inlinable static var all: UInt { 7 }
  }

  @usableFromInline let word: Atomic<UInt>

  @inlinable @inline(__always)
  init(isTrustful: Bool) {
    word = Atomic(isTrustful ? Flag.trustful : 0)
  }

  deinit {
    // Nobody else can hold the sink now.
    _ = Self.takeUpstream(of: word.load(ordering: .acquiring))
  }

  // In one order with what a sink notes of values inside.
  @inlinable
  var isOver: Bool { word.load(ordering: .sequentiallyConsistent) & Flag.over != 0 }

  @inlinable
  var isEntrusted: Bool { word.load(ordering: .acquiring) & Flag.entrusted != 0 }

  /// Whether a value needs no precautions.
  @inlinable @inline(__always)
  var isEntrustedAndOpen: Bool { word.load(ordering: .acquiring) & (Flag.entrusted | Flag.over) == Flag.entrusted }

  /// Notes the promise of ``Entrusted``, unless the end has come.
  @usableFromInline
  func entrust() {
    var current = word.load(ordering: .relaxed)
    while current & (Flag.trustful | Flag.over) == Flag.trustful {
      let (exchanged, original) = word.compareExchange(
        expected: current,
        desired: current | Flag.entrusted,
        ordering: .acquiringAndReleasing
      )
      if exchanged { return }
      current = original
    }
  }

  /// Keeps an upstream if it is the first and comes in time, and says whether it did.
  @usableFromInline
  func hold(_ upstream: consuming SubscriptionBase) -> Bool {
    let reference = Unmanaged.passRetained(consume upstream)
    let address = UInt(bitPattern: reference.toOpaque())
    var current = word.load(ordering: .relaxed)
    while current & ~(Flag.entrusted | Flag.trustful) == 0 {
      let (exchanged, original) = word.compareExchange(
        expected: current,
        desired: current | address,
        ordering: .acquiringAndReleasing
      )
      if exchanged { return true }
      current = original
    }
    reference.release()
    return false
  }

  /// The end, as it comes once.
  @usableFromInline
  struct Ending {
    /// What was held until then.
    @usableFromInline let upstream: SubscriptionBase?
    @usableFromInline let wasEntrusted: Bool
  }

  /// Notes the end, and gives it to the one caller who did.
  @usableFromInline
  func end() -> Ending? {
    guard let last = conclude(needsUpstream: false) else { return nil }
    return Ending(upstream: Self.takeUpstream(of: last), wasEntrusted: last & Flag.entrusted != 0)
  }

  /// Ends and cancels the upstream, and tells the one caller who did whether the sink was entrusted; nil without an upstream.
  ///
  /// A sink that only a handle stops ends even so: its upstream may come later, from a scheduler for example, and the
  /// handle will not be there any more.
  @usableFromInline
  func cancel() -> Bool? {
    guard let last = conclude(needsUpstream: true) else { return nil }
    Self.takeUpstream(of: last)?.cancel()
    return last & Flag.entrusted != 0
  }

  /// Notes the end, and gives the word before it, with the reference that it held, to the one caller who did.
  private func conclude(needsUpstream: Bool) -> UInt? {
    var current = word.load(ordering: .acquiring)
    while current & Flag.over == 0, !needsUpstream || current & (~Flag.all | Flag.trustful) != 0 {
      let (exchanged, original) = word.compareExchange(
        expected: current,
        desired: current & Flag.all | Flag.over,
        ordering: .sequentiallyConsistent
      )
      if exchanged { return current }
      current = original
    }
    return nil
  }

  /// Takes over the reference held by a word that stands no more.
  private static func takeUpstream(of word: UInt) -> SubscriptionBase? {
    UnsafeRawPointer(bitPattern: word & ~Flag.all).map {
      Unmanaged<SubscriptionBase>.fromOpaque($0).takeRetainedValue()
    }
  }
}
