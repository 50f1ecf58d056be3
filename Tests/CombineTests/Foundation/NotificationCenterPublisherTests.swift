import Expectations

#if Foundation
  import Combine
  import Foundation
  import ReboundTesting
  import Testing

  @Suite("NotificationCenter.publisher")
  struct NotificationCenterPublisherTests {
    let center = NotificationCenter()
    let name = Notification.Name("changed")

    @Test("notifications of the name and object come as long as they are asked for, and others do not")
    func publishes() {
      let object = Signal()
      let recorder = Recorder<Notification, Never>(
        requesting: .max(1),
        answering: { note, _ in
          note.userInfo?["more"] as? Bool == true ? .max(1) : .none
        }
      )
      center.publisher(for: name, object: object).subscribe(recorder)

      center.post(name: Notification.Name("other"), object: object)
      center.post(name: name, object: Signal())
      center.post(name: name, object: object, userInfo: ["more": true, "number": 1])
      center.post(name: name, object: object, userInfo: ["number": 2])
      center.post(name: name, object: object, userInfo: ["number": 3])
      recorder.request(.none)
      center.post(name: name, object: object, userInfo: ["number": 4])
      recorder.request(.max(1))
      center.post(name: name, object: object, userInfo: ["number": 5])

      expectEqual(recorder.values.map { $0.userInfo?["number"] as? Int }, [1, 2, 5])
      #expect(recorder.completions.isEmpty)
    }

    @Test("nothing comes after a cancel, and the center and the object are let go")
    func cancels() throws {
      weak var observed: Signal?
      let recorder = Recorder<Notification, Never>()
      let keeper = Keeper<Notification, Never>(recorder)
      do {
        let object = Signal()
        observed = object
        center.publisher(for: name, object: object).subscribe(keeper)
      }
      let subscription = try #require(keeper.subscription)
      expectEqual(String(describing: subscription), "NotificationCenter Observer")
      #expect(observed != nil)

      subscription.cancel()
      subscription.cancel()
      center.post(name: name, object: nil)

      #expect(observed == nil)
      #expect(recorder.values.isEmpty)
      let labels = Mirror(reflecting: subscription).children.map(\.label)
      expectEqual(labels, ["center", "name", "object", "demand"])
    }

    @Test("dropping the subscription stops the notifications and lets go of the subscriber")
    func dropped() {
      weak var observed: Recorder<Notification, Never>?
      do {
        let recorder = Recorder<Notification, Never>()
        observed = recorder
        let keeper = Keeper<Notification, Never>(recorder)
        center.publisher(for: name).subscribe(keeper)
        keeper.subscription?.request(.unlimited)
        center.post(name: name, object: nil)
        expectEqual(recorder.values.count, 1)
        keeper.subscription = nil
        center.post(name: name, object: nil)
        expectEqual(recorder.values.count, 1)
      }
      #expect(observed == nil)
    }

    @Test("a subscriber may post, and cancel, from inside a notification")
    func reenters() {
      let recorder = Recorder<Notification, Never>(answering: { [center, name] note, recorder in
        if note.userInfo == nil {
          center.post(name: name, object: nil, userInfo: ["inner": true])
        } else {
          recorder.cancel()
        }
        return .none
      })
      center.publisher(for: name).subscribe(recorder)
      center.post(name: name, object: nil)
      center.post(name: name, object: nil)
      expectEqual(recorder.values.count, 2)
    }

    @Test("notifications come on the thread that posts them, before it goes on")
    func thread() {
      let (log, done) = (Shared<[Bool]>([]), Signal())
      let poster = Shared<Thread?>(nil)
      let subscription = center.publisher(for: name).sink { _ in
        log.change { $0.append(Thread.current === poster.value) }
      }
      Thread.detachNewThread { [center, name] in
        poster.value = Thread.current
        center.post(name: name, object: nil)
        log.change { $0.append(false) }
        done.send()
      }
      #expect(done.wait())
      expectEqual(log.value, [true, false])
      subscription.cancel()
    }

    @Test("posting on several threads reaches the subscriber one at a time")
    func serialises() {
      let inside = Shared(0)
      let most = Shared(0)
      let subscription = center.publisher(for: name).sink { _ in
        let now = inside.change {
          $0 += 1; return $0
        }
        most.change { $0 = max($0, now) }
        inside.change { $0 -= 1 }
      }
      DispatchQueue.concurrentPerform(iterations: 200) { [center, name] _ in center.post(name: name, object: nil) }
      subscription.cancel()
      expectEqual(most.value, 1)
    }

    @Test("publishers are equal if they publish the same")
    func equality() {
      let object = Signal()
      expectEqual(center.publisher(for: name, object: object), center.publisher(for: name, object: object))
      #expect(center.publisher(for: name, object: object) != center.publisher(for: name, object: Signal()))
      #expect(center.publisher(for: name) != NotificationCenter().publisher(for: name))
      #expect(center.publisher(for: name) != center.publisher(for: Notification.Name("other")))
    }
  }
#endif
