#if Redis
  import Rebound

  extension RedisLoop {
    package struct Settings: Sendable {
      package var address: RedisAddress
      /// How long it takes at most to connect and to prepare a connection.
      package var connectLimit: Duration
      /// After how long without an answer a connection is given up.
      package var silenceLimit: Duration
      /// How many commands may wait for an answer.
      package var maxWaiting: Int
      package var reconnect: RetryPolicy<RedisFailure>
      package var scripts: [RedisScript]

      package init(
        address: RedisAddress,
        connectLimit: Duration,
        silenceLimit: Duration,
        maxWaiting: Int,
        reconnect: RetryPolicy<RedisFailure>,
        scripts: [RedisScript]
      ) {
        (self.address, self.connectLimit, self.silenceLimit) = (address, connectLimit, silenceLimit)
        (self.maxWaiting, self.reconnect, self.scripts) = (maxWaiting, reconnect, scripts)
      }
    }

    package enum Status: Sendable {
      case ready
      case lost(RedisFailure)
      /// The retry policy makes no other connection.
      case gaveUp(RedisFailure)
    }
  }
#endif
