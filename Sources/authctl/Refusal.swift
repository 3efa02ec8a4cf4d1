/// An error reply of the daemon.
struct Refusal: Hashable, Sendable {
    /// The error's full name: `io.authrefresh.NoSuchAccount`.
    let name: String
    /// Its parameters as JSON text; `{}` if there were none.
    let parameters: String
}
