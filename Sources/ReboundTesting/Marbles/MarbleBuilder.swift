import Combine

/// What the subscriber of a marble diagram does: `^` subscribes, a digit requests so many values, `*` requests
/// everything, `!` cancels.
///
///     DemandRow("2--1---!")
///
/// Without `^` it subscribes in the first frame; without a request in the row it requests everything at once. Nothing
/// stands before `^` or behind `!`, where nobody would hear of it.
public struct DemandRow: Hashable, Sendable {
  /// The row, as it is written.
  public let text: String

  /// Makes a row; whether it makes sense shows when it is used.
  public init(_ text: String) {
    self.text = text
  }
}

/// When the input of a marble diagram must be subscribed to, one row for each subscription: `^` is where it begins, `!`
/// where it is cancelled, `|` and `#` where the input ends it.
///
///     SubscriptionRows("^-#", "----^-!")
///
/// With two inputs the rows of the first come first; an input that nobody subscribes to has none.
public struct SubscriptionRows: Hashable, Sendable {
  /// The rows, as they are written.
  public let rows: [String]

  /// Makes rows; whether they make sense shows when they are used.
  public init(_ rows: String...) {
    self.rows = rows
  }
}

/// One line of a marble diagram that is not the chain.
public struct MarbleLine {
  enum Kind {
    case row(String)
    case demand(DemandRow)
    case subscriptions(SubscriptionRows)
  }

  let kind: Kind
}

/// The chain between the rows of a marble diagram.
public struct MarbleChain<Output, Failure: Error> {
  let publisher: AnyPublisher<Output, Failure>
}

/// A whole marble diagram: the inputs, the chain, and what comes of it.
public struct MarbleDiagram<Output, Failure: Error> {
  let inputs: [MarbleLine]
  let chain: MarbleChain<Output, Failure>
  let outcome: [MarbleLine]
}

/// Puts rows and a chain together to a ``MarbleDiagram``.
@resultBuilder
public enum MarbleBuilder {
  /// A row of marbles: before the chain an input, behind it the output.
  public static func buildExpression(_ row: String) -> MarbleLine { MarbleLine(kind: .row(row)) }

  /// What the subscriber does.
  public static func buildExpression(_ demand: DemandRow) -> MarbleLine { MarbleLine(kind: .demand(demand)) }

  /// When the inputs are subscribed to.
  public static func buildExpression(_ rows: SubscriptionRows) -> MarbleLine {
    MarbleLine(kind: .subscriptions(rows))
  }

  /// The chain.
  public static func buildExpression<P: Publisher>(_ publisher: P) -> MarbleChain<P.Output, P.Failure> {
    MarbleChain(publisher: publisher.eraseToAnyPublisher())
  }

  /// One input, the chain, and what comes of it.
  public static func buildBlock<Output, Failure>(
    _ input: MarbleLine,
    _ chain: MarbleChain<Output, Failure>,
    _ outcome: MarbleLine...
  ) -> MarbleDiagram<Output, Failure> {
    MarbleDiagram(inputs: [input], chain: chain, outcome: outcome)
  }

  /// Two inputs, the chain, and what comes of it.
  public static func buildBlock<Output, Failure>(
    _ first: MarbleLine,
    _ second: MarbleLine,
    _ chain: MarbleChain<Output, Failure>,
    _ outcome: MarbleLine...
  ) -> MarbleDiagram<Output, Failure> {
    MarbleDiagram(inputs: [first, second], chain: chain, outcome: outcome)
  }
}
