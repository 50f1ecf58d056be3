/// A scheduler's closure on its way to an API that wants it `@Sendable`.
///
/// Combine's schedulers take closures that are not marked so, and conformances outside of this module rely on that.
///
/// Unchecked, because a scheduler hands each closure over and never touches it again itself: it runs where the caller
/// of `schedule` asked for, and is as safe there as what the caller captured.
@usableFromInline
struct ScheduledAction: @unchecked Sendable {
  @usableFromInline let run: () -> Void

  @inlinable
  init(_ run: @escaping () -> Void) {
    self.run = run
  }
}
