/// The words for people of errors that stand for a mistake in the program: they can do nothing else about it.
package enum ProgramMistake {
  /// What happened.
  package static let words = "This app has made a mistake."
  /// What to do next.
  package static let suggestion = "Please update the app, or report this."
}
