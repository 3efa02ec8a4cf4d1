/// The version of the package, and so of all its programs.
package enum Version {
    /// What `--version` prints and `GetInfo` answers: `0.1.0`.
    package static let text = "0.1.0"
}
