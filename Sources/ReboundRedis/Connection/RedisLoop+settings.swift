#if Redis
  import Rebound

  extension RedisLoop {
    struct Settings: Sendable {
      var address: RedisAddress
      /// How long it takes at most to connect and to prepare a connection.
      var connectLimit: Duration
      /// After how long without an answer a connection is given up.
      var silenceLimit: Duration
      /// How many commands may wait for an answer.
      var maxWaiting: Int
      var reconnect: RetryPolicy<RedisFailure>
      var scripts: [RedisScript]
    }

    enum Status: Sendable {
      case ready
      case lost(RedisFailure)
      /// The retry policy makes no other connection.
      case gaveUp(RedisFailure)
    }
  }
#endif
