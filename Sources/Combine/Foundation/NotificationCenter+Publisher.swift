#if Foundation
  import Foundation
  import StreamSupport

  extension NotificationCenter {
    /// A publisher of the notifications of one name.
    ///
    /// - Parameters:
    ///   - name: the name of the notifications.
    ///   - object: whose notifications to publish; everybody's if nil.
    /// - Demand: notifications that nobody asked for are dropped.
    /// - Failure: there is none, and no end.
    /// - Threads: notifications come where they are posted, one at a time.
    public func publisher(for name: Notification.Name, object: AnyObject? = nil) -> NotificationCenter.Publisher {
      NotificationCenter.Publisher(center: self, name: name, object: object)
    }

    /// A publisher of notifications, which never ends.
    public struct Publisher: Combine.Publisher, Equatable {
      /// It publishes notifications.
      public typealias Output = Notification
      /// It can't fail.
      public typealias Failure = Never

      /// Where the notifications are posted.
      public let center: NotificationCenter
      /// The name of the notifications.
      public let name: Notification.Name
      /// Whose notifications are published; everybody's if nil.
      public let object: AnyObject?

      /// Makes a publisher of notifications.
      ///
      /// - Parameters:
      ///   - center: where they are posted.
      ///   - name: their name.
      ///   - object: whose notifications to publish; everybody's if nil.
      public init(center: NotificationCenter, name: Notification.Name, object: AnyObject? = nil) {
        self.center = center
        self.name = name
        self.object = object
      }

      /// Attaches a subscriber; notifications are observed from here on.
      public func receive<S>(subscriber: S) where S: Subscriber, S.Failure == Never, S.Input == Notification {
        let observation = Observation(of: self)
        observation.observe(for: AnySubscriber(subscriber))
        subscriber.receive(subscription: observation)
      }

      /// Whether both publish the same notifications of the same object.
      public static func == (lhs: Publisher, rhs: Publisher) -> Bool {
        lhs.center === rhs.center && lhs.name == rhs.name && lhs.object === rhs.object
      }
    }
  }

  /// One subscriber's observation of a notification center, which ends when it is cancelled or released.
  private final class Observation: Subscription, CustomStringConvertible, CustomReflectable,
    CustomPlaygroundDisplayConvertible
  {
    // What the subscriber asked for and did not get yet; closed once it has cancelled.
    private let outstanding = DemandCounter()
    // Held while a notification goes to the subscriber: they may be posted on several threads at once.
    private let combiningLock = CombiningLock()
    private let lock = Lock()
    // All guarded by `lock`, and emptied on cancellation.
    private var center: NotificationCenter?
    private var name: Notification.Name?
    private var object: AnyObject?
    private var token: (any NSObjectProtocol)?

    init(of publisher: NotificationCenter.Publisher) {
      center = publisher.center
      name = publisher.name
      object = publisher.object
    }

    deinit {
      // Nobody else can hold a reference now, so the lock is not needed.
      if let token { center?.removeObserver(token) }
    }

    /// Called once, before the subscriber knows of the observation.
    func observe(for subscriber: AnySubscriber<Notification, Never>) {
      let inlet = Slot(self, subscriber)
      token = center?.addObserver(forName: name, object: object, queue: nil) { inlet.post($0) }
    }

    /// What the notification center keeps: the subscriber, but not the observation.
    ///
    /// Unchecked, because the observation's combining lock lets one notification at a time to the subscriber.
    private struct Slot: @unchecked Sendable {
      weak var observation: Observation?
      let subscriber: AnySubscriber<Notification, Never>

      init(_ observation: Observation, _ subscriber: AnySubscriber<Notification, Never>) {
        self.observation = observation
        self.subscriber = subscriber
      }

      func post(_ notification: Notification) {
        guard let observation else { return }
        observation.combiningLock.pass {
          if observation.outstanding.takeOne() { observation.outstanding.add(subscriber.receive(notification)) }
        }
      }
    }

    func request(_ demand: Subscribers.Demand) {
      outstanding.add(demand)
    }

    func cancel() {
      guard let owed = outstanding.close() else { return }
      lock.lock()
      let held = (center, name, object, token)
      (center, name, object, token) = (nil, nil, nil, nil)
      owedAtEnd = owed
      lock.unlock()
      if let token = held.3 { held.0?.removeObserver(token) }
    }

    // What was owed on cancellation, for reflection; guarded by `lock`.
    private var owedAtEnd = Subscribers.Demand.none

    var description: String { "NotificationCenter Observer" }
    var playgroundDescription: Any { description }
    var customMirror: Mirror {
      lock.lock()
      let (center, name, object, owedAtEnd) = (center, name, object, owedAtEnd)
      lock.unlock()
      return Mirror(
        self,
        children: [
          "center": center as Any, "name": name as Any, "object": object as Any,
          "demand": outstanding.demand ?? owedAtEnd,
        ]
      )
    }
  }
#endif
