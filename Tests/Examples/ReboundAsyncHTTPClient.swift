import AsyncHTTPClient
import Rebound
import ReboundAsyncHTTPClient
import ReboundHTTP

// What the examples in the doc comments of ReboundAsyncHTTPClient take for granted. No target: scripts/test-adapters compiles it.

func given<Value>() -> Value {
  // Never run: this is compiled and no more.
  fatalError("an example is no program")
}
