#if Redis
  extension Fleet {
    // Under their names as they are: nothing stands behind those.
    static func membersKey(_ name: String) -> String { "rebound:{\(name)}:members" }
    static func peakKey(_ name: String) -> String { "rebound:{\(name)}:peak" }

    /// The keys of a policy begin with this.
    func key(_ policy: String) -> String { "rebound:{\(Self.part(name)):\(Self.part(policy))}:" }

    /// A name as the part of a key, so that nothing in it is taken for what stands behind it.
    static func part(_ name: String) -> String {
      name.unicodeScalars.reduce(into: "") { part, scalar in
        switch scalar {
        case "%": part += "%25"
        case ":": part += "%3A"
        default: part.unicodeScalars.append(scalar)
        }
      }
    }
  }
#endif
