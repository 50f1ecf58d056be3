import Foundation
import Rebound
import StreamSupport

extension NetworkFailure {
  /// All words that people get to read about failures, in one place.
  ///
  ///     NetworkFailure.Texts.current = NetworkFailure.Texts { key, english in
  ///       .init(
  ///         description: bundle.localizedString(forKey: "\(key).description", value: english.description, table: nil),
  ///         suggestion: bundle.localizedString(forKey: "\(key).suggestion", value: english.suggestion, table: nil)
  ///       )
  ///     }
  ///
  /// `{host}` and `{status}` in a text stand for those of the failure, `{wait}` for the pause that is asked for.
  public struct Texts: Sendable {
    /// What is said about one kind of failure.
    public struct Text: Hashable, Sendable {
      /// What happened.
      public var description: String
      /// Why, if that helps.
      public var reason: String?
      /// What to do about it.
      public var suggestion: String?

      /// Makes a text.
      ///
      /// - Parameters:
      ///   - description: What happened.
      ///   - reason: Why.
      ///   - suggestion: What to do about it.
      public init(description: String, reason: String? = nil, suggestion: String? = nil) {
        self.description = description
        self.reason = reason
        self.suggestion = suggestion
      }
    }

    private let lookUp: @Sendable (Key, Text) -> Text
    /// A pause in words: "2 minutes".
    let wait: @Sendable (Duration) -> String

    /// Makes texts.
    ///
    /// - Parameters:
    ///   - wait: A pause in words.
    ///   - lookUp: The text for a key; gets the English one.
    public init(
      wait: @escaping @Sendable (Duration) -> String = Texts.englishWait,
      _ lookUp: @escaping @Sendable (Key, Text) -> Text
    ) {
      self.wait = wait
      self.lookUp = lookUp
    }

    /// The English texts.
    public static let english = Texts { _, english in english }

    /// The texts in use, English ones until they are replaced; may be replaced at any time from any thread.
    public static var current: Texts {
      get { shared.texts }
      set { shared.texts = newValue }
    }

    private static let shared = SharedTexts()

    func text(for key: Key, of failure: NetworkFailure) -> Text {
      let text = lookUp(key, key.english)
      let service = lookUp(.unknownHost, Key.unknownHost.english).description
      let fill = { (template: String) in
        let start = failure.host == nil && template.hasPrefix("{host}") ? service.prefix(1).uppercased() : ""
        let text = template.replacingOccurrences(of: "{host}", with: failure.host ?? service)
          .replacingOccurrences(of: "{status}", with: failure.status.map(String.init) ?? "")
        return start + text.dropFirst(start.count)
      }
      return Text(
        description: fill(text.description),
        reason: text.reason.map(fill),
        suggestion: text.suggestion.map(fill)
      )
    }

    /// A pause in English: seconds up to a minute and a half, then minutes, hours, and from two days on days, rounded up; one
    /// of more than 31 years is no longer than that.
    public static let englishWait: @Sendable (Duration) -> String = { pause in
      let seconds = Int(pause.clampedToDelay.inSeconds.rounded(.up))
      let (count, unit) =
        switch seconds {
        case ...90: (max(seconds, 1), "second")
        case ...5_400: ((seconds + 59) / 60, "minute")
        case ...172_800: ((seconds + 3_599) / 3_600, "hour")
        default: ((seconds + 86_399) / 86_400, "day")
        }
      return "\(count) \(unit)\(count == 1 ? "" : "s")"
    }
  }

  /// The host of the call, for texts.
  fileprivate var host: String? { head?.url.host ?? URLComponents(string: call.url)?.host }
}

private final class SharedTexts: Sendable {
  private let value = Locked(NetworkFailure.Texts.english)

  var texts: NetworkFailure.Texts {
    get { value.withLock { $0 } }
    set { withExtendedLifetime(value.exchange(newValue)) {} }
  }
}
