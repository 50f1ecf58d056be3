#if OpenAPI
  import OpenAPIRuntime
  import ReboundHTTP

  extension ClientError {
    /// What the call has failed with, as a `WebAPIClient` would name it.
    ///
    ///     do {
    ///       weather = try await client.getWeather()
    ///     } catch let error as ClientError {
    ///       show(error.networkFailure.errorDescription)
    ///     }
    ///
    /// The runtime puts into its own error whatever a middleware or a transport throws, be it ``PipelineMiddleware``,
    /// ``ReboundTransport`` or another. What says nothing about the network, such as an answer that the document does not
    /// know, is `.other`.
    public var networkFailure: NetworkFailure { NetworkFailure(refusal: underlyingError) }
  }
#endif
