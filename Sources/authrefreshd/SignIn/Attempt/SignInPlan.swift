internal import RefreshCore

/// How the answer comes back. The raw values are used on the wire.
enum SignInFlow: String, Hashable, Sendable, CaseIterable {
    /// The server sends the browser to a port on loopback (RFC 8252 §7.3).
    case browser
    /// The person pastes the address that the browser was sent to.
    case paste
    /// The browser passes the address on by a private-use URI scheme (RFC 8252 §7.1).
    case scheme
    /// The person types a code on any device (RFC 8628).
    case device
}

/// A part of a sign-in at a server whose policies decide what the person does there.
enum SignInLeg: Hashable, Sendable {
    /// The account's own policy. Its code brings the account's grant.
    case grant
    /// The policy for resetting a forgotten password, before the account's own policy runs again.
    case passwordReset
    /// Another policy that was requested, for example to edit a profile. It does not change the account.
    case otherPolicy
}

/// The settings of a sign-in.
struct SignInPlan: Hashable, Sendable {
    let flow: SignInFlow
    var leg = SignInLeg.grant
    /// Whether there is a policy for resetting the password.
    var resetsPasswords = false
    /// The subject of the account's person; nil if it is unknown.
    let storedSubject: String?
    /// The name of the account's person; nil if it is unknown.
    var storedName: String?
    /// The mail address that the account is for; nil if none is known. Only a first sign-in is compared with it.
    var mailbox: String?
    /// Whether another person may take over the account.
    let replacesSubject: Bool
    let startedAt: Moment
}
