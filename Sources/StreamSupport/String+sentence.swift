extension String {
  /// With a full stop at its end.
  package var sentence: String { hasSuffix(".") ? self : "\(self)." }
}
