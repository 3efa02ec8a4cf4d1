internal import JOSE

/// The algorithms of ID tokens, by name.
package enum IDTokenAlgorithm {
    /// The algorithms that an ID token may be signed by, as JOSE names them.
    package static let names = SigningAlgorithm.allCases.map(\.rawValue)

    /// Whether ID tokens of `algorithm` are signed with the client secret.
    package static func isSymmetric(_ algorithm: String) -> Bool {
        SigningAlgorithm(rawValue: algorithm)?.isSymmetric ?? false
    }
}
