/// The wire types of `StartSignIn`.
package enum StartSignIn {
    /// The parameters.
    package struct Parameters: Codable, Hashable, Sendable {
        package var account: String
        package var flow: String?
        package var restart: Bool?
        package var replace: Bool?
        package var prompt: String?
        package var loginHint: String?
        package var acrValues: [String]?
        package var maxAgeSec: Int64?
        package var scopes: [String]?
        package var claims: String?
        package var responseType: String?
        package var nonce: String?
        package var hashesNonce: Bool?
        package var policy: String?
        package var newAccount: String?

        package init(
            account: String,
            flow: String? = nil,
            restart: Bool? = nil,
            replace: Bool? = nil,
            prompt: String? = nil,
            loginHint: String? = nil,
            acrValues: [String]? = nil,
            maxAgeSec: Int64? = nil,
            scopes: [String]? = nil,
            claims: String? = nil,
            responseType: String? = nil,
            nonce: String? = nil,
            hashesNonce: Bool? = nil,
            policy: String? = nil,
            newAccount: String? = nil
        ) {
            self.account = account
            self.flow = flow
            self.restart = restart
            self.replace = replace
            self.prompt = prompt
            self.loginHint = loginHint
            self.acrValues = acrValues
            self.maxAgeSec = maxAgeSec
            self.scopes = scopes
            self.claims = claims
            self.responseType = responseType
            self.nonce = nonce
            self.hashesNonce = hashesNonce
            self.policy = policy
            self.newAccount = newAccount
        }
    }

    /// The reply.
    package struct Reply: Codable, Hashable, Sendable {
        package var event: String
        package var attempt: String
        package var flow: String
        package var atUSec: Int64
        package var expiresAtUSec: Int64
        package var url: String?
        package var host: String?
        package var redirectUri: String?
        package var registeredUri: String?
        package var awaitsRegistration: Bool?
        package var selfRegistered: Bool?
        package var clientReplaced: Bool?
        package var joined: Bool?
        package var browser: String?
        package var window: String?
        package var browserRefused: Bool?
        package var schemeFromProfile: Bool?
        package var policy: String?
        package var userCode: String?
        package var verificationUriComplete: String?
        package var status: AccountStatus?
        package var refreshTokenKept: Bool?
        package var idToken: AcquireToken.IDToken?
        package var samePersonAs: String?
        package var demandedScopes: [String]?
        package var mailMechanisms: [String]?

        package init(event: String, attempt: String, flow: String, atUSec: Int64, expiresAtUSec: Int64) {
            self.event = event
            self.attempt = attempt
            self.flow = flow
            self.atUSec = atUSec
            self.expiresAtUSec = expiresAtUSec
        }
    }
}

/// The wire types of `ContinueSignIn`.
package enum ContinueSignIn {
    /// The parameters.
    package struct Parameters: Codable, Hashable, Sendable {
        package var attempt: String?
        package var redirect: String?
        package var opened: Bool?

        package init(attempt: String? = nil, redirect: String? = nil, opened: Bool? = nil) {
            self.attempt = attempt
            self.redirect = redirect
            self.opened = opened
        }
    }

    /// The reply.
    package struct Reply: Codable, Hashable, Sendable {
        package var account: String

        package init(account: String) {
            self.account = account
        }
    }
}

/// The wire types of `CancelSignIn`.
package enum CancelSignIn {
    /// The parameters.
    package struct Parameters: Codable, Hashable, Sendable {
        package var account: String?
        package var attempt: String?

        package init(account: String? = nil, attempt: String? = nil) {
            self.account = account
            self.attempt = attempt
        }
    }

    /// The reply.
    package struct Reply: Codable, Hashable, Sendable {
        package var account: String

        package init(account: String) {
            self.account = account
        }
    }
}

/// The wire types of `StartWebSession`.
package enum StartWebSession {
    /// The parameters.
    package struct Parameters: Codable, Hashable, Sendable {
        package var callback: String
        package var timeoutSec: Int64?

        package init(callback: String, timeoutSec: Int64? = nil) {
            self.callback = callback
            self.timeoutSec = timeoutSec
        }
    }

    /// The reply.
    package struct Reply: Codable, Hashable, Sendable {
        package var event: String
        package var attempt: String
        package var atUSec: Int64
        package var expiresAtUSec: Int64
        package var callback: String
        package var url: String?

        package init(event: String, attempt: String, atUSec: Int64, expiresAtUSec: Int64, callback: String) {
            self.event = event
            self.attempt = attempt
            self.atUSec = atUSec
            self.expiresAtUSec = expiresAtUSec
            self.callback = callback
        }
    }
}

/// The wire types of `SignOut`.
package enum SignOut {
    /// The parameters.
    package struct Parameters: Codable, Hashable, Sendable {
        package var account: String
        package var revoke: Bool?
        package var revokeParked: Bool?
        package var endSession: Bool?
        package var forget: Bool?

        package init(
            account: String,
            revoke: Bool? = nil,
            revokeParked: Bool? = nil,
            endSession: Bool? = nil,
            forget: Bool? = nil
        ) {
            self.account = account
            self.revoke = revoke
            self.revokeParked = revokeParked
            self.endSession = endSession
            self.forget = forget
        }
    }

    /// The reply.
    package struct Reply: Codable, Hashable, Sendable {
        package var steps: [SignOutStep]
        package var endSessionUrl: String?
        package var endSessionHost: String?

        package init(steps: [SignOutStep], endSessionUrl: String? = nil, endSessionHost: String? = nil) {
            self.steps = steps
            self.endSessionUrl = endSessionUrl
            self.endSessionHost = endSessionHost
        }
    }
}

/// One step of a sign-out. The fields are described in `io.authrefresh.varlink`.
package struct SignOutStep: Codable, Hashable, Sendable {
    package var step: String
    package var outcome: String
    package var failure: FailureReport?

    package init(step: String, outcome: String, failure: FailureReport? = nil) {
        self.step = step
        self.outcome = outcome
        self.failure = failure
    }
}
