/// What a simulation finds by itself.
public enum SimulationProblem: Error, Hashable, Sendable {
  /// Nobody can run, no timer is left, and the body has not ended: a deadlock, or one who waits for what never comes.
  case stuck(waiting: [String])
  /// After so many steps the body has not ended: it waits for what never comes, while timers go on.
  case endless(steps: Int, waiting: [String])
  /// The body has ended, and all is quiet; but tasks still wait, timers are still set, or sinks are still subscribed.
  case leftOver(tasks: [String], timers: Int, subscriptions: [String] = [])
  /// A loop that never rests: so many steps, and time could not move.
  case restless(steps: Int)
  /// Another thread made work of the simulation ready, in these places: the seed does not decide when.
  case outsideWork(places: [String])
}

extension SimulationProblem: CustomStringConvertible {
  /// What happened, and what to look for.
  public var description: String {
    switch self {
    case .stuck(let waiting):
      """
      Stuck: nobody can run and no timer is set, but the body has not ended.
      \(waiting.map { "  \($0)" }.joined(separator: "\n"))
      They wait for each other, or for something that nobody in the simulation brings (a thread or a queue outside it).
      """
    case .endless(let steps, let waiting):
      """
      No end: timers go on, but the body has not ended after \(steps) steps.
      \(waiting.map { "  \($0)" }.joined(separator: "\n"))
      Look for who waits for what never comes, or raise SimulationLimits.steps for a program that takes so long.
      """
    case .leftOver(let tasks, let timers, let subscriptions):
      """
      Left over at the end:
      \((tasks + (timers == 0 ? [] : ["\(timers) timers"]) + subscriptions).map { "  \($0)" }.joined(separator: "\n"))
      A task counts while it waits, or while something that lives on holds it; a sink, while something keeps it that has neither \
      ended nor cancelled it. SimulationLimits(allowsLeftOvers: true) allows all of them.
      """
    case .restless(let steps):
      "A loop that never rests: \(steps) steps in which time could not move. Let it wait, or raise stepsAtOneMoment."
    case .outsideWork(let places):
      """
      Work from outside: another thread made this simulation go on, so the seed does not decide when.
      \(places.map { "  \($0)" }.joined(separator: "\n"))
      Look for a thread, a dispatch queue that is given work directly, or a real network that the program uses there.
      """
    }
  }

  /// Which kind it is, whatever the figures.
  var kind: String {
    switch self {
    case .stuck: "stuck"
    case .endless: "endless"
    case .leftOver: "left over"
    case .restless: "restless"
    case .outsideWork: "outside work"
    }
  }
}
