/// A property of a class that tells of its changes.
///
///     class Weather {
///       @Published var temperature = 20.0
///     }
///     let weather = Weather()
///     let cancellable = weather.$temperature.sink { print($0) }
///
/// Setting it announces the change on the object's default `objectWillChange` first, if somebody has asked for that,
/// then sends the new value to the subscribers of `$temperature`, and only then keeps it: inside a subscriber the
/// property still has the old value. An equal value is sent, too.
///
/// A copy of the wrapper itself is the same property, and not one of its own: after `_temperature = other._temperature` both
/// objects have one temperature. For one of its own, write `_temperature = Published(initialValue: other.temperature)`.
///
/// May be read and set on any thread. A value set from inside a subscriber of the same property goes out at once; the
/// value that was being sent is kept after it.
@propertyWrapper
public struct Published<Value> {
  // By Apple's name, for programs that look for the value in a mirror.
  @usableFromInline let storage: PublishedSubject<Value>

  /// Makes a property with a first value.
  @inlinable
  public init(wrappedValue: Value) {
    storage = PublishedSubject(wrappedValue)
  }

  /// Makes a property with a first value.
  @inlinable
  public init(initialValue: Value) {
    storage = PublishedSubject(initialValue)
  }

  /// A publisher of the values of a property: the one it has, then each new one before the property has it.
  ///
  /// Never ends, and keeps what it needs alive: it may outlive the object.
  public struct Publisher: Combine.Publisher {
    /// The kind of values published.
    public typealias Output = Value
    /// It can't fail.
    public typealias Failure = Never

    @usableFromInline let state: PublishedSubject<Value>

    @inlinable
    init(_ state: PublishedSubject<Value>) {
      self.state = state
    }

    /// Attaches a subscriber, which gets the property's value with its first request.
    @inlinable
    public func receive<S>(subscriber: consuming S) where S: Subscriber, S.Failure == Never, Value == S.Input {
      entrust(subscriber)
      state.attach(AnySubscriber(subscriber).erased)
    }
  }

  /// The publisher of the property's values.
  ///
  /// Setting it does nothing: the setter is there for `assign(to: &$property)`.
  @inlinable
  public var projectedValue: Publisher {
    get { Publisher(storage) }
    set {}
  }

  /// Not to be used: a property of a structure can't tell of its changes.
  @available(*, unavailable, message: "@Published is only available on properties of classes")
  public var wrappedValue: Value {
    get { storage.value }
    set { storage.send(newValue) }
  }

  /// The way of the compiler to a `@Published` property.
  @inlinable @inline(__always)
  public static subscript<EnclosingSelf>(
    _enclosingInstance object: EnclosingSelf,
    wrapped wrappedKeyPath: ReferenceWritableKeyPath<EnclosingSelf, Value>,
    storage storageKeyPath: ReferenceWritableKeyPath<EnclosingSelf, Published<Value>>
  ) -> Value where EnclosingSelf: AnyObject {
    get { object[keyPath: storageKeyPath].storage.value }
    set {
      let storage = Unmanaged.passUnretained(object[keyPath: storageKeyPath].storage)
      if !storage._withUnsafeGuaranteedRef({ $0.sendUnretained(newValue) }) {
        object[keyPath: storageKeyPath].storage.send(newValue)
      }
    }
  }
}

extension Published: ObservableField {
  // The address is that of a field of this type, in an object that the caller keeps; the field is not written after the
  // object was made, or by the same rules as any property of a class.
  static func publisher(inFieldAt address: UnsafeRawPointer) -> ObservableObjectPublisher? {
    address.load(as: Published<Value>.self).storage.publisher
  }

  static func install(
    _ publisher: ObservableObjectPublisher,
    inFieldAt address: UnsafeRawPointer
  ) -> ObservableObjectPublisher {
    address.load(as: Published<Value>.self).storage.install(publisher)
  }
}
