package import RefreshCore

/// How the answer comes back. The raw values are used on the wire.
package enum SignInFlow: String, Hashable, Sendable, CaseIterable {
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
package enum SignInLeg: Hashable, Sendable {
    /// The account's own policy. Its code brings the account's grant.
    case grant
    /// The policy for resetting a forgotten password, before the account's own policy runs again.
    case passwordReset
    /// Another policy that was requested, for example to edit a profile. It does not change the account.
    case otherPolicy
}

/// The settings of a sign-in.
package struct SignInPlan: Hashable, Sendable {
    package let flow: SignInFlow
    package let leg: SignInLeg
    /// Whether there is a policy for resetting the password.
    package let resetsPasswords: Bool
    /// The subject of the account's person; nil if it is unknown.
    package let storedSubject: String?
    /// The name of the account's person; nil if it is unknown.
    package let storedName: String?
    /// The mail address that the account is for; nil if none is known. Only a first sign-in is compared with it.
    package let mailbox: String?
    /// Whether another person may take over the account.
    package let replacesSubject: Bool
    package let startedAt: Moment

    package init(
        flow: SignInFlow,
        leg: SignInLeg = .grant,
        resetsPasswords: Bool = false,
        storedSubject: String?,
        storedName: String? = nil,
        mailbox: String? = nil,
        replacesSubject: Bool,
        startedAt: Moment
    ) {
        self.flow = flow
        self.leg = leg
        self.resetsPasswords = resetsPasswords
        self.storedSubject = storedSubject
        self.storedName = storedName
        self.mailbox = mailbox
        self.replacesSubject = replacesSubject
        self.startedAt = startedAt
    }
}
