import Expectations
import ReboundTesting
import Testing

@testable import Combine

@Suite("the publishers of objects without published fields")
struct PublisherTableTests {
  final class Object {}

  @Test("an object that comes to live at the address of another gets a publisher of its own")
  func reusedAddress() {
    let table = PublisherTable()
    var publishers: [ObservableObjectPublisher] = []
    for _ in 0..<100 {
      let object = Object()
      publishers.append(table.publisher(of: object))
      #expect(table.publisher(of: object) === publishers.last)
    }

    expectEqual(Set(publishers.map(ObjectIdentifier.init)).count, 100)
  }

  @Test("what is left of the dead stays within a few entries of what the living take")
  func sweeps() {
    let table = PublisherTable()
    let living = (0..<20).map { _ in Object() }
    let publishers = living.map(table.publisher)
    for _ in 0..<50 {
      // All alive at once, so that their addresses differ.
      let crowd = (0..<100).map { _ in Object() }
      for object in crowd { _ = table.publisher(of: object) }
    }
    let last = Object()
    for _ in 0..<300 { _ = table.publisher(of: Object()) }

    #expect(table.count <= 2 * (100 + living.count) + 1)
    #expect(zip(living, publishers).allSatisfy { table.publisher(of: $0) === $1 })
    withExtendedLifetime(last) {}
  }

  @Test("the dead are swept out, also where nobody comes to live at their addresses")
  func sweepsOtherAddresses() {
    // Keeps the address taken when the object is gone.
    struct Ghost {
      unowned let object: Object
    }
    let table = PublisherTable()
    var ghosts: [Ghost] = []
    for _ in 0..<500 {
      let object = Object()
      ghosts.append(Ghost(object: object))
      _ = table.publisher(of: object)
    }
    #expect(table.count <= 20)
    withExtendedLifetime(ghosts) {}
  }

  @Test("an object that asks while it goes is given a publisher, and leaves nothing behind")
  func dying() {
    final class Dying {
      let table: PublisherTable
      init(_ table: PublisherTable) { self.table = table }
      deinit { table.publisher(of: self).send() }
    }
    let table = PublisherTable()
    _ = Dying(table)

    expectEqual(table.count, 0)
  }
}
