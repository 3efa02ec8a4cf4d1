/// The algorithms that may sign ID tokens, by name.
package enum IDTokenAlgorithm {
    /// The names of the algorithms that may sign an ID token, as in JOSE.
    package static let names = SigningAlgorithm.allCases.map(\.rawValue)

    /// Whether `algorithm` signs with the client secret.
    package static func isSymmetric(_ algorithm: String) -> Bool {
        SigningAlgorithm(rawValue: algorithm)?.isSymmetric ?? false
    }
}
