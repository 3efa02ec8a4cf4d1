/// The ways to sign in, as the wire names them.
enum SignInFlow: String, CaseIterable, Sendable {
    /// The browser on this machine is redirected to a loopback port.
    case browser
    /// The browser on this machine is redirected to an address that the desktop hands to `authctl callback`.
    case scheme
    /// A code is typed on a page that any device opens (RFC 8628).
    case device
    /// A browser anywhere; its user brings back the address that it ended on.
    case paste
}
