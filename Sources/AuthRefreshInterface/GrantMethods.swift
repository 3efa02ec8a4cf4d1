package import CommandLineProgram

/// The wire types of `ImportGrant`.
package enum ImportGrant {
    /// The parameters.
    package struct Parameters: Codable, Hashable, Sendable {
        package var account: String
        package var refreshToken: String

        package init(account: String, refreshToken: String) {
            self.account = account
            self.refreshToken = refreshToken
        }
    }

    /// The reply.
    package struct Reply: Codable, Hashable, Sendable {
        package var status: AccountStatus

        package init(status: AccountStatus) {
            self.status = status
        }
    }
}

/// Recognizes text that cannot be a refresh token, which is nearly always the content of a wrong file.
package enum RefreshTokenText {
    /// What the text is instead. The raw values are words for people.
    package enum Finding: String, Sendable {
        case html = "HTML"
        case json = "JSON"
        case lines = "several words or lines"
        case unprintable = "something that is not printable ASCII"
    }

    /// What is wrong with `text`; nil if it may be a refresh token: printable ASCII (RFC 6749 §A.17). Known servers'
    /// tokens contain no blanks, and do not begin like HTML or JSON.
    package static func flaw(in text: String) -> Finding? {
        let bytes = text.utf8
        switch bytes.first(where: { $0 > 0x20 }) {
        case UInt8(ascii: "<"): return .html
        case UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "\""): return .json
        default: break
        }
        if bytes.contains(where: { [0x09, 0x0A, 0x0D, 0x20].contains($0) }) { return .lines }
        return bytes.allSatisfy { (0x21...0x7E).contains($0) } ? nil : .unprintable
    }
}

/// Parameters of `io.authrefresh.GrantNotImported`.
package struct GrantNotImportedError: InterfaceError {
    package static let name = "io.authrefresh.GrantNotImported"

    package var account: String
    package var kind: String
    package var reason: String
    package var failure: FailureReport
    package var hint: String
    package var command: String?

    package init(account: String, kind: String, reason: String, failure: FailureReport, hint: Hint) {
        self.account = account
        self.kind = kind
        self.reason = reason
        self.failure = failure
        self.hint = hint.text
        self.command = hint.command
    }
}

/// Parameters of `io.authrefresh.AccountParked`.
package struct AccountParkedError: InterfaceError {
    package static let name = "io.authrefresh.AccountParked"

    package var account: String
    package var hint: String
    package var command: String?

    package init(account: String, hint: Hint) {
        self.account = account
        self.hint = hint.text
        self.command = hint.command
    }
}

/// The wire types of `ResumeAccount`.
package enum ResumeAccount {
    /// The parameters.
    package struct Parameters: Codable, Hashable, Sendable {
        package var account: String

        package init(account: String) {
            self.account = account
        }
    }

    /// The reply.
    package struct Reply: Codable, Hashable, Sendable {
        package var status: AccountStatus

        package init(status: AccountStatus) {
            self.status = status
        }
    }
}

/// The wire types of `ExportGrant`.
package enum ExportGrant {
    /// The parameters.
    package struct Parameters: Codable, Hashable, Sendable {
        package var account: String
        package var park: Bool?

        package init(account: String, park: Bool? = nil) {
            self.account = account
            self.park = park
        }
    }

    /// The reply.
    package struct Reply: Codable, Hashable, Sendable {
        package var settings: AccountSettings
        package var clientSecret: String?
        package var clientKey: String?
        package var dpopKey: String?
        package var refreshToken: String?
        package var registration: ManagedRegistration?
        package var clientSecretExpiresAtUSec: Int64?

        package init(
            settings: AccountSettings,
            clientSecret: String? = nil,
            clientKey: String? = nil,
            dpopKey: String? = nil,
            refreshToken: String? = nil,
            registration: ManagedRegistration? = nil,
            clientSecretExpiresAtUSec: Int64? = nil
        ) {
            self.clientSecretExpiresAtUSec = clientSecretExpiresAtUSec
            self.registration = registration
            self.settings = settings
            self.clientSecret = clientSecret
            self.clientKey = clientKey
            self.dpopKey = dpopKey
            self.refreshToken = refreshToken
        }
    }
}

/// The wire types of `AcquireToken`.
package enum AcquireToken {
    /// The parameters.
    package struct Parameters: Codable, Hashable, Sendable {
        package var account: String
        package var minimumValiditySec: Int64?
        package var scopes: [String]?
        package var resources: [String]?
        package var audience: String?
        package var claims: String?
        package var force: Bool?
        package var idToken: Bool?
        package var host: String?
        package var accountId: String?
        package var holder: TokenHolder?

        package init(
            account: String,
            minimumValiditySec: Int64? = nil,
            scopes: [String]? = nil,
            resources: [String]? = nil,
            audience: String? = nil,
            claims: String? = nil,
            force: Bool? = nil,
            idToken: Bool? = nil,
            host: String? = nil,
            holder: TokenHolder? = nil
        ) {
            self.account = account
            self.minimumValiditySec = minimumValiditySec
            self.scopes = scopes
            self.resources = resources
            self.audience = audience
            self.claims = claims
            self.force = force
            self.idToken = idToken
            self.host = host
            self.holder = holder
        }
    }

    /// The reply.
    package struct Reply: Codable, Hashable, Sendable {
        package var accessToken: String
        package var tokenType: String
        package var expiresAtUSec: Int64
        package var scopes: [String]?
        package var idToken: IDToken?
        package var heldUntilUSec: Int64?

        package init(
            accessToken: String,
            tokenType: String,
            expiresAtUSec: Int64,
            scopes: [String]? = nil,
            idToken: IDToken? = nil,
            heldUntilUSec: Int64? = nil
        ) {
            self.accessToken = accessToken
            self.tokenType = tokenType
            self.expiresAtUSec = expiresAtUSec
            self.scopes = scopes
            self.idToken = idToken
            self.heldUntilUSec = heldUntilUSec
        }
    }

    /// `TokenHolder` of the interface: a program that keeps a token until a time that it was told.
    package struct TokenHolder: Codable, Hashable, Sendable {
        package var process: String?
        package var use: String?

        package init(process: String? = nil, use: String? = nil) {
            self.process = process
            self.use = use
        }
    }

    /// `IdToken` of the interface: the token, and what a program checks before it passes the token on.
    package struct IDToken: Codable, Hashable, Sendable {
        package var token: String
        package var expiresAtUSec: Int64
        package var subject: String
        package var audiences: [String]
        package var nonce: String?

        package init(token: String, expiresAtUSec: Int64, subject: String, audiences: [String], nonce: String? = nil) {
            self.token = token
            self.expiresAtUSec = expiresAtUSec
            self.subject = subject
            self.audiences = audiences
            self.nonce = nonce
        }
    }
}

/// The wire types of `ProvePossession`.
package enum ProvePossession {
    /// The parameters.
    package struct Parameters: Codable, Hashable, Sendable {
        package var account: String
        package var method: String
        package var url: String
        package var accessToken: String?
        package var nonce: String?

        package init(
            account: String,
            method: String,
            url: String,
            accessToken: String? = nil,
            nonce: String? = nil
        ) {
            self.account = account
            self.method = method
            self.url = url
            self.accessToken = accessToken
            self.nonce = nonce
        }
    }

    /// The reply.
    package struct Reply: Codable, Hashable, Sendable {
        package var proof: String

        package init(proof: String) {
            self.proof = proof
        }
    }
}

/// The wire types of `ReportRejected`.
package enum ReportRejected {
    /// The parameters.
    package struct Parameters: Codable, Hashable, Sendable {
        package var account: String
        package var scopes: [String]?
        package var resources: [String]?
        package var audience: String?
        package var claims: String?
        package var challenge: String?
        package var accessToken: String?
        package var accountId: String?

        package init(
            account: String,
            scopes: [String]? = nil,
            resources: [String]? = nil,
            audience: String? = nil,
            claims: String? = nil,
            challenge: String? = nil,
            accessToken: String? = nil
        ) {
            self.account = account
            self.scopes = scopes
            self.resources = resources
            self.audience = audience
            self.claims = claims
            self.challenge = challenge
            self.accessToken = accessToken
        }
    }

    /// The reply.
    package struct Reply: Codable, Hashable, Sendable {
        package var status: AccountStatus
        package var known: Bool?

        package init(status: AccountStatus, known: Bool? = nil) {
            self.status = status
            self.known = known
        }
    }
}

/// The wire types of `Refresh`.
package enum Refresh {
    /// The parameters.
    package struct Parameters: Codable, Hashable, Sendable {
        package var account: String

        package init(account: String) {
            self.account = account
        }
    }

    /// The reply.
    package struct Reply: Codable, Hashable, Sendable {
        package var status: AccountStatus

        package init(status: AccountStatus) {
            self.status = status
        }
    }
}
