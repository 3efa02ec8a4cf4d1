package import RefreshCore

/// How the person's answer comes back; the raw values are those of the wire.
package enum SignInFlow: String, Hashable, Sendable, CaseIterable {
    /// The server sends the browser to a port on loopback (RFC 8252 §7.3).
    case browser
    /// The person brings the address that the browser was sent to.
    case paste
    /// The browser hands the address on by a private-use URI scheme (RFC 8252 §7.1).
    case scheme
    /// The person types a code on any device (RFC 8628).
    case device
}

/// What a sign-in is to be.
package struct SignInPlan: Hashable, Sendable {
    package let flow: SignInFlow
    /// Whose account it is; nil if that is not known.
    package let storedSubject: String?
    /// Whether another person may take it over.
    package let replacesSubject: Bool
    package let startedAt: Moment

    package init(flow: SignInFlow, storedSubject: String?, replacesSubject: Bool, startedAt: Moment) {
        self.flow = flow
        self.storedSubject = storedSubject
        self.replacesSubject = replacesSubject
        self.startedAt = startedAt
    }
}

/// Where a sign-in stands.
package enum SignInPhase: Equatable, Sendable {
    /// The server is asked for what the person is to be shown.
    case preparing
    /// The person is at the server's pages.
    case waiting(AuthorizationExpectation)
    /// The person approves on another device, and the server is asked again and again.
    case polling(DevicePolling)
    /// The code is at the token endpoint.
    case exchanging
    /// The tokens are there, and not on disk yet.
    case storing(since: Moment)
    case ended(SignInEnd)

    /// Whether a person has something to do.
    var isForPerson: Bool {
        switch self {
        case .waiting, .polling: true
        case .preparing, .exchanging, .storing, .ended: false
        }
    }

    /// Whether the token endpoint may answer with tokens.
    var isObtaining: Bool {
        switch self {
        case .exchanging, .polling: true
        case .preparing, .waiting, .storing, .ended: false
        }
    }

    var isStoring: Bool {
        if case .storing = self { true } else { false }
    }
}

/// What can happen to a sign-in.
package enum SignInEvent: Equatable, Sendable {
    /// The address is there that the browser has to open.
    case prepared(AuthorizationExpectation)
    /// The server gave a device code, which lives for `lifetime`; the interval is nil if it named none.
    case deviceAuthorized(interval: Duration?, lifetime: Duration)
    /// There is nothing to show the person.
    case preparationFailed(RefreshFailure)
    /// Somebody says that the browser was opened.
    case opened
    /// Something came back from a browser, or was brought by a person.
    case responseArrived(AuthorizationResponse)
    /// The token endpoint answered a poll without tokens.
    case pollEnded(DevicePollAnswer)
    /// The tokens are there; the subject is nil if the server named none.
    case grantArrived(subject: String?)
    /// The code brought no tokens, or the device's none that can be believed.
    case exchangeFailed(RefreshFailure)
    /// The tokens are on disk.
    case stored
    /// The tokens will not be on disk.
    case notStored(reason: String)
    /// What `remaining(at:)` said has passed.
    case timePassed
    case cancelled(by: SignInCanceller)
}

/// What the token endpoint says of a device code (RFC 8628 §3.5), tokens apart.
package enum DevicePollAnswer: Hashable, Sendable {
    case pending
    case slowDown
    case denied(ServerRefusal)
    case expired
    case failed(RefreshFailure)
}

/// What has to be done about an event, in this order.
package enum SignInEffect: Equatable, Sendable {
    /// Tell those who follow.
    case tell(SignInNews)
    /// Send the code to the token endpoint; once.
    case exchange(AuthorizationCode)
    /// Ask the token endpoint about the device code.
    case poll
    /// Commit the tokens that arrived.
    case store
    /// Tell whoever brought the answer that it is none.
    case refuse(ResponseRefusal)
    /// Tell everybody how it ended, and forget it.
    case finish(SignInEnd)
}

/// What those who follow a sign-in are told; the raw values are those of the wire.
package enum SignInNews: String, Hashable, Sendable, CaseIterable {
    case started
    case opened
    case callbackReceived = "callback-received"
    case exchanging
    case completed
}
