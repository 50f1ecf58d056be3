import Combine
import ReboundStore
import ReboundStoreTesting
import ReboundTesting
import Testing

// What the examples in the doc comments of ReboundStoreTesting take for granted, besides those of the store.
// With ReboundStore.
