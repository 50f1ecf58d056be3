#if Foundation
  import Combine
  import Foundation

  #if canImport(FoundationNetworking)
    import FoundationNetworking
  #endif

  extension Registration {
    static let foundation: [Registration] = [
      Registration(
        "NotificationCenter.publisher",
        .endless,
        as: "NotificationCenter Observer",
        ["center", "name", "object", "demand"],
        gives: "name=contract"
      ) { stage in
        let center = NotificationCenter()
        let name = Notification.Name("contract")
        stage.feed = { _ in center.post(name: name, object: nil) }
        return center.publisher(for: name)
      },
      Registration("Timer.publish", .endless, as: nil) { _ in
        Timer.publish(every: 1000, on: .main, in: .default)
      },
      Registration(
        "URLSession.dataTaskPublisher",
        .subject,
        as: "DataTaskPublisher",
        ["task", "downstream", "parent", "demand"],
        without: Set(Law.allCases).subtracting([.subscription, .cancelTwice, .requestAfterCancel, .requestNone])
      ) { _ in
        URLSession(configuration: .ephemeral).dataTaskPublisher(for: URL(fileURLWithPath: "/"))
      },
    ]
  }

  extension EquatableTests {
    static func makeFoundationInstances() -> [any Publisher] {
      [
        NotificationCenter.default.publisher(for: Notification.Name("contract")),
        Timer.publish(every: 1, on: .main, in: .default),
        URLSession.shared.dataTaskPublisher(for: URL(fileURLWithPath: "/")),
      ]
    }
  }

  let builtPublisherTypes = publisherTypes
  let builtDepartures = departures
#else
  import Combine

  // Without the trait, Foundation's publishers are not there.
  extension Registration {
    static let foundation: [Registration] = []
  }

  extension EquatableTests {
    static func makeFoundationInstances() -> [any Publisher] { [] }
  }

  let builtPublisherTypes = publisherTypes.subtracting([
    "NotificationCenter.Publisher", "Timer.TimerPublisher", "URLSession.DataTaskPublisher",
  ])
  let builtDepartures = departures.filter { $0.key != "Timer.publish" }
#endif
