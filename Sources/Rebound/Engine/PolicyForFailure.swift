/// A policy that does not care what calls fail with, for calls with one type of failures.
///
/// Made by the operators. Its own errors stay what they are: a publisher makes them into failures of its type.
public struct PolicyForFailure<Base: Policy, Failure: Error>: Policy where Base.Failure == any Error {
  @usableFromInline let base: Base

  /// Takes a policy that does not care.
  @inlinable
  public init(_ base: Base) {
    self.base = base
  }

  /// What the policy is.
  public var descriptor: StageDescriptor { base.descriptor }

  /// Those of the policy.
  public var traits: StageTraits { base.traits }

  /// Lets what the policy shares be seen.
  public func register(with events: PolicyEvents?, pipeline: String) {
    base.register(with: events, pipeline: pipeline)
  }

  /// Makes the machine of one execution.
  @inlinable
  public func makeMachine(_ execution: ExecutionContext) -> Machine { Machine(base.makeMachine(execution)) }

  /// Asks the machine of the policy.
  public struct Machine: PolicyMachine {
    @usableFromInline var base: Base.Machine

    @inlinable
    init(_ base: Base.Machine) {
      self.base = base
    }

    @inlinable
    func translated(_ decision: Decision<any Error>) -> Decision<Failure> {
      switch decision {
      case .proceed: .proceed
      case .wait(let pause): .wait(pause)
      case .park(let register): .park(register)
      case .finish: .finish
      // What the call itself has failed with stays what it is.
      case .fail(let error): (error as? Failure).map { .fail($0) } ?? .refuse(error)
      case .refuse(let error): .refuse(error)
      }
    }

    /// As the policy decides.
    @inlinable
    public mutating func begins(_ execution: ExecutionContext) -> Decision<Failure> {
      translated(base.begins(execution))
    }

    /// As the policy decides.
    @inlinable
    public mutating func woken(_ execution: ExecutionContext) -> Decision<Failure> {
      translated(base.woken(execution))
    }

    /// As the policy decides.
    @inlinable
    public mutating func succeeded(_ execution: ExecutionContext) -> Decision<Failure> {
      translated(base.succeeded(execution))
    }

    /// As the policy decides.
    @inlinable
    public mutating func failed(with error: Failure, _ execution: ExecutionContext) -> Decision<Failure> {
      translated(base.failed(with: error, execution))
    }

    /// Tells the policy.
    @inlinable public mutating func cancelled(_ execution: ExecutionContext) { base.cancelled(execution) }
    /// As the policy has it.
    @inlinable public var observesValues: Bool { base.observesValues }
    /// Tells the policy.
    @inlinable public mutating func valuesCame(_ execution: ExecutionContext) { base.valuesCame(execution) }
    /// As the policy has it.
    @inlinable public var skipsDelivered: Bool { base.skipsDelivered }
    /// As the policy has it.
    @inlinable public var deadline: Deadline? { base.deadline }
    /// As the policy has it.
    @inlinable public var wakeTime: Duration? { base.wakeTime }
    /// As the policy has it.
    @inlinable public static var isTimed: Bool { Base.Machine.isTimed }

    /// As the policy decides.
    @inlinable
    public mutating func timerFired(_ execution: ExecutionContext) -> Decision<Failure> {
      translated(base.timerFired(execution))
    }
  }
}

/// The name of a policy's type, without what it is generic over.
@usableFromInline
func policyName(_ type: any Policy.Type) -> String {
  let type = (type as? any WrappingPolicy.Type)?.base ?? type
  return String("\(type)".prefix { $0 != "<" })
}

/// A policy that only translates for another.
private protocol WrappingPolicy {
  static var base: any Policy.Type { get }
}

extension PolicyForFailure: WrappingPolicy {
  static var base: any Policy.Type { Base.self }
}

/// A type of failures that has a place for the errors of policies: an open breaker, a limit that is reached, no place.
///
/// A publisher with such failures stands under any policy without saying what a refusal is.
public protocol RefusalConvertible: Error {
  /// The failure for an error of a policy.
  init(refusal: any Error)
}
