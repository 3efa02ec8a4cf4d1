// Generated from io.authrefresh.varlink by Sources/AuthRefreshInterface/generate. Do not edit.
package import Basics

/// Describes a refresh that brought no tokens. It contains no secret.
package struct FailureReport: Codable, Hashable, Sendable {
    /// One constant sentence that says what failed.
    package var summary: String
    /// The HTTP status of the answer. Absent: there was none.
    package var httpStatus: Int64?
    /// "error" of RFC 6749 section 5.2. Absent: the server gave none.
    package var oauthError: String?
    /// "error_description", cut to 200 characters. Absent: the server gave none.
    package var oauthErrorDescription: String?
    /// The provider's finer code: "suberror", "error_subtype". Absent: the server gave none.
    package var subError: String?
    /// A provider's own number or word, such as "AADSTS70043". Absent: the server gave none.
    package var providerCode: String?
    /// Identifies the attempt in the journal (AUTHREFRESH_CORRELATION_ID). Absent: no request was sent.
    package var correlationId: String?
    /// When the server began to refuse what it had accepted before, µs since 1970. Absent: it did not.
    package var workedUntilUSec: Int64?

    package init(
        summary: String,
        httpStatus: Int64? = nil,
        oauthError: String? = nil,
        oauthErrorDescription: String? = nil,
        subError: String? = nil,
        providerCode: String? = nil,
        correlationId: String? = nil,
        workedUntilUSec: Int64? = nil
    ) {
        self.summary = summary
        self.httpStatus = httpStatus
        self.oauthError = oauthError
        self.oauthErrorDescription = oauthErrorDescription
        self.subError = subError
        self.providerCode = providerCode
        self.correlationId = correlationId
        self.workedUntilUSec = workedUntilUSec
    }
}

/// A token that an account holds in addition to its default token. The values that it was requested with name it.
package struct TokenSetStatus: Codable, Hashable, Sendable {
    /// Sorted, without repetitions. Absent: none were named.
    package var scopes: [String]?
    /// "resource" of RFC 8707 section 2. Sorted, without repetitions. Absent: none were named.
    package var resources: [String]?
    /// Absent: none was named.
    package var audience: String?
    /// "claims" of OpenID Connect Core section 5.5, a JSON object as text. Absent: none were named.
    package var claims: String?
    /// When the token expires, µs since 1970. This may be in the past. At the next refresh, the daemon forgets a token
    /// that expired a day ago.
    package var expiresAtUSec: Int64

    package init(
        scopes: [String]? = nil,
        resources: [String]? = nil,
        audience: String? = nil,
        claims: String? = nil,
        expiresAtUSec: Int64
    ) {
        self.scopes = scopes
        self.resources = resources
        self.audience = audience
        self.claims = claims
        self.expiresAtUSec = expiresAtUSec
    }
}

/// An ID token (OpenID Connect Core section 2), and the claims of it that the daemon checks before it passes the token
/// on.
package struct IdToken: Codable, Hashable, Sendable {
    /// The token itself, a signed JWT.
    package var token: String
    /// When it expires, µs since 1970.
    package var expiresAtUSec: Int64
    /// "sub": the server's identifier of the person who signed in.
    package var subject: String
    /// "aud": the recipients that it is for. One of them is the account's client.
    package var audiences: [String]
    /// "nonce" of the sign-in. Absent: it has none. ID tokens that come with a refresh have none.
    package var nonce: String?

    package init(token: String, expiresAtUSec: Int64, subject: String, audiences: [String], nonce: String? = nil) {
        self.token = token
        self.expiresAtUSec = expiresAtUSec
        self.subject = subject
        self.audiences = audiences
        self.nonce = nonce
    }
}

/// A program that keeps a token until a time that it was told, and asks again before that time only if a server refused
/// the token. Kubernetes clients do so.
package struct TokenHolder: Codable, Hashable, Sendable {
    /// The program's process: a text that no other process of its machine has had since the start, such as its ID,
    /// start time and program, at most 100 bytes. Absent: unknown. Then an early call is no report of a refused token.
    package var process: String?
    /// What the process uses the token for, such as the address of a cluster, at most 4096 bytes. Absent: it uses the
    /// token for one thing only, or does not say.
    package var use: String?

    package init(process: String? = nil, use: String? = nil) {
        self.process = process
        self.use = use
    }
}

/// An address for which tools use an account.
package struct ServiceUrl: Codable, Hashable, Sendable {
    /// As the account's owner wrote it.
    package var url: String
    /// The account's name.
    package var account: String
    /// The user name that goes with the token there. Absent: the account does not name one.
    package var username: String?

    package init(url: String, account: String, username: String? = nil) {
        self.url = url
        self.account = account
        self.username = username
    }
}

/// The state of one account.
package struct AccountStatus: Codable, Hashable, Sendable {
    /// The account's local name.
    package var account: String
    /// One of: fresh, refreshing, retrying, interaction-required, refresh-token-expiring, signed-out, misconfigured,
    /// parked (another machine may use its grant, so it is not used here; see ExportGrant and reason).
    package var state: String
    /// The issuer's identifier URL. Empty: the store cannot read it (see reason).
    package var issuer: String
    /// How often the refresh token has changed: 0 before the first grant.
    package var generation: Int64
    /// When the access token expires, µs since 1970. Absent: there is none.
    package var expiresAtUSec: Int64?
    /// Why the server did not state that time: notStated (the server stated none; the daemon uses the profile's
    /// lifetime, or one hour), unreadable (the server stated something that is not a length of time), unlimited (the
    /// token never expires; the time is only a placeholder). Absent: the server stated it.
    package var expiryBasis: String?
    /// When the last successful refresh was sent, µs since 1970. Absent: there is no access token.
    package var refreshedAtUSec: Int64?
    /// When the next attempt is due, µs since 1970. Absent: nothing will happen without an event.
    package var nextAttemptAtUSec: Int64?
    /// When the refresh token expires, µs since 1970. Absent: unknown or never.
    package var refreshTokenExpiresAtUSec: Int64?
    /// When the grant ends whatever is done, by the server or by itself (forgetAfterSec), µs since 1970. Absent:
    /// unknown, never, or a use of the refresh token may move the end.
    package var grantEndsAtUSec: Int64?
    /// When the server stops accepting the client secret, µs since 1970. The server said so when the client was
    /// registered, or its owner when the secret was set. Absent: unknown or never.
    package var clientSecretExpiresAtUSec: Int64?
    /// How far the server's clock is ahead of ours, in seconds. Negative: it is behind. Absent: no answer has told yet.
    package var clockSkewSec: Int64?
    /// As in AccountSettings: how a service account obtains its tokens. Absent: a person gives the grant.
    package var grantType: String?
    /// Scopes that the grant has and the account's default access token lacks. Some servers do this after a request for
    /// fewer scopes. The next refresh names the whole scope. If that does not bring them back, the reason is
    /// scopesLost. Absent: none is known to be missing.
    package var missingScopes: [String]?
    /// Scopes that the sign-in asked for and the grant lacks, because the person or the server declined them. Absent:
    /// none is known.
    package var declinedScopes: [String]?
    /// Failures in a row. 0: none.
    package var failures: Int64
    /// Why the user must act. One of: grantEnded; rejectedWithoutReason (the server has refused for ten minutes or
    /// longer without an error code; the daemon keeps trying); outcomeUnknown (the answer to a refresh was lost);
    /// userRequired; noRefreshToken; sourceAccount (the account that its token is derived from needs a sign-in; "hint"
    /// names that account); otherPerson (a refresh brought tokens of another person; they are kept, and nobody gets a
    /// token of the account); stepUp (a resource server asks for more than the grant has; see ReportRejected);
    /// scopesLost (the server no longer gives scopes that it granted; the tokens with the rest are given out); damaged
    /// (the store cannot read the account, so it is misconfigured; only "failure" says more); otherMachine (the store
    /// came from another machine, so the account is parked; see ResumeAccount). Absent: nobody must act.
    package var reason: String?
    /// Since when the user must act, µs since 1970. Absent: nobody must act.
    package var sinceUSec: Int64?
    /// The last failure. Absent: the last attempt succeeded, or there was none.
    package var failure: FailureReport?
    /// The command that helps. Absent: none is needed.
    package var hint: String?
    /// The command in "hint", as it stands there; several: one per line. Absent: it contains none.
    package var command: String?
    /// The account's token sets, at most 16. Absent: there are none. Only GetStatus sends this field.
    package var tokenSets: [TokenSetStatus]?
    /// The scopes of the grant, as the server stated them. Absent: the server has not stated them. Only GetStatus sends
    /// this field.
    package var grantedScopes: [String]?
    /// Who signed in: "sub" of the ID token, which is the issuer's identifier of the person. Absent: it is not known.
    /// Only GetStatus sends this field.
    package var subject: String?
    /// Other values that the provider sent at the sign-in or with the tokens, under the provider's names:
    /// "instance_url", "realmId". Absent: none. Only GetStatus sends this field.
    package var keptFields: [String: String]?
    /// The names that the server has for the person who signed in. Absent: it told none.
    package var person: Person?
    /// The server gave no refresh token. The account works until its access token expires; then somebody has to sign
    /// in. "askConsent": a sign-in that asks for consent may bring a refresh token. "final": no way to get one is
    /// known. Absent: there is one, or none is needed.
    package var refreshTokenMissing: String?
    /// When the account signs out by itself, µs since 1970: forgetAfterSec after the sign-in. Absent: it stays signed
    /// in.
    package var signOutAtUSec: Int64?
    /// The file that holds the account's token. Absent: it has none. Only GetStatus sends this field.
    package var tokenFile: TokenFileStatus?
    /// The account's identifier. It stays when the account is renamed, and no other account ever gets it. Only
    /// GetStatus sends this field. Absent: another method sends the state.
    package var accountId: String?

    package init(
        account: String,
        state: String,
        issuer: String,
        generation: Int64,
        expiresAtUSec: Int64? = nil,
        expiryBasis: String? = nil,
        refreshedAtUSec: Int64? = nil,
        nextAttemptAtUSec: Int64? = nil,
        refreshTokenExpiresAtUSec: Int64? = nil,
        grantEndsAtUSec: Int64? = nil,
        clientSecretExpiresAtUSec: Int64? = nil,
        clockSkewSec: Int64? = nil,
        grantType: String? = nil,
        missingScopes: [String]? = nil,
        declinedScopes: [String]? = nil,
        failures: Int64,
        reason: String? = nil,
        sinceUSec: Int64? = nil,
        failure: FailureReport? = nil,
        hint: Hint? = nil,
        tokenSets: [TokenSetStatus]? = nil,
        grantedScopes: [String]? = nil,
        subject: String? = nil,
        keptFields: [String: String]? = nil,
        person: Person? = nil,
        refreshTokenMissing: String? = nil,
        signOutAtUSec: Int64? = nil,
        tokenFile: TokenFileStatus? = nil,
        accountId: String? = nil
    ) {
        self.account = account
        self.state = state
        self.issuer = issuer
        self.generation = generation
        self.expiresAtUSec = expiresAtUSec
        self.expiryBasis = expiryBasis
        self.refreshedAtUSec = refreshedAtUSec
        self.nextAttemptAtUSec = nextAttemptAtUSec
        self.refreshTokenExpiresAtUSec = refreshTokenExpiresAtUSec
        self.grantEndsAtUSec = grantEndsAtUSec
        self.clientSecretExpiresAtUSec = clientSecretExpiresAtUSec
        self.clockSkewSec = clockSkewSec
        self.grantType = grantType
        self.missingScopes = missingScopes
        self.declinedScopes = declinedScopes
        self.failures = failures
        self.reason = reason
        self.sinceUSec = sinceUSec
        self.failure = failure
        self.hint = hint?.text
        self.command = hint?.command
        self.tokenSets = tokenSets
        self.grantedScopes = grantedScopes
        self.subject = subject
        self.keptFields = keptFields
        self.person = person
        self.refreshTokenMissing = refreshTokenMissing
        self.signOutAtUSec = signOutAtUSec
        self.tokenFile = tokenFile
        self.accountId = accountId
    }

    /// `hint` and the command in it.
    package var help: Hint? {
        Hint(hint, command: command)
    }
}

/// A file that holds an account's token for as long as the token is valid.
package struct TokenFileStatus: Codable, Hashable, Sendable {
    /// Where it is.
    package var path: String
    /// As tokenFileKind in AccountSettings. The default is access.
    package var kind: String
    /// When the daemon wrote the token that the file contains, µs since 1970. Absent: there is no file now.
    package var writtenAtUSec: Int64?
    /// What is wrong with the file, in one sentence. Absent: nothing is.
    package var trouble: String?

    package init(path: String, kind: String, writtenAtUSec: Int64? = nil, trouble: String? = nil) {
        self.path = path
        self.kind = kind
        self.writtenAtUSec = writtenAtUSec
        self.trouble = trouble
    }
}

/// The names that an authorization server has for a person. Use them for display only: a name can change, and can later
/// belong to somebody else. "subject" does not change.
package struct Person: Codable, Hashable, Sendable {
    /// The name that the person signs in with: "preferred_username", or the provider's own field. Absent: not told.
    package var username: String?
    /// The e-mail address. Absent: not told.
    package var email: String?
    /// The full name. Absent: not told.
    package var name: String?
    /// The person's home tenant, by Entra's tenant id. Absent: not told.
    package var tenant: String?
    /// "sub" of the ID token, which is the issuer's identifier of the person. It shows which accounts belong to the
    /// same person. Only ListAccounts sends this field. Absent: not known.
    package var subject: String?

    package init(
        username: String? = nil,
        email: String? = nil,
        name: String? = nil,
        tenant: String? = nil,
        subject: String? = nil
    ) {
        self.username = username
        self.email = email
        self.name = name
        self.tenant = tenant
        self.subject = subject
    }
}

/// An account as a file describes it: all of its settings.
package struct DescribedAccount: Codable, Hashable, Sendable {
    /// What is absent here is not set. There are three exceptions: the clientId stays if it is empty and the account's
    /// key file can name the client, an account without redirectUri gets the one that AddAccount would give it, and the
    /// issuer may be the profile's.
    package var settings: AccountSettings
    /// The client secret. Absent: as it is; a new account has none.
    package var clientSecret: String?
    /// The client's private key, as in AddAccount. Absent: as it is; a new account has none.
    package var clientKey: String?

    package init(settings: AccountSettings, clientSecret: String? = nil, clientKey: String? = nil) {
        self.settings = settings
        self.clientSecret = clientSecret
        self.clientKey = clientKey
    }
}

/// What ApplyAccounts did with an account, or would do.
package struct AppliedAccount: Codable, Hashable, Sendable {
    /// The account's local name.
    package var account: String
    /// added, changed, unchanged or removed.
    package var outcome: String
    /// The names of the fields of AccountSettings that differ, and clientSecret or clientKey. Absent: the outcome is
    /// not "changed".
    package var settings: [String]?
    /// The settings of an account that would be changed. Absent: no dry run, another outcome, or earlier accounts fill
    /// the reply.
    package var before: AccountSettings?
    /// The same as they would be. Absent: as before.
    package var after: AccountSettings?

    package init(
        account: String,
        outcome: String,
        settings: [String]? = nil,
        before: AccountSettings? = nil,
        after: AccountSettings? = nil
    ) {
        self.account = account
        self.outcome = outcome
        self.settings = settings
        self.before = before
        self.after = after
    }
}

/// What the daemon needs to delete the registration of a client that it registered (RFC 7592).
package struct ManagedRegistration: Codable, Hashable, Sendable {
    /// "registration_client_uri".
    package var uri: String
    /// "registration_access_token", which is a secret.
    package var accessToken: String

    package init(uri: String, accessToken: String) {
        self.uri = uri
        self.accessToken = accessToken
    }
}

/// A part of a provider's URLs that each account sets: a tenant, a realm, a data centre.
package struct ProviderVariable: Codable, Hashable, Sendable {
    /// Its name. The URLs contain it in braces.
    package var name: String
    /// What it is, as people are told.
    package var help: String
    /// Its value if the account does not set it. The value may contain variables in braces that are listed earlier.
    /// Absent: the account must set it.
    package var `default`: String?
    /// A regular expression that the whole value must match. In any case the value has only letters, digits, ".", "_"
    /// and "-". Absent: nothing more is required.
    package var pattern: String?
    /// Values that are replaced in the URLs, each with its replacement: Entra's "consumers" becomes a tenant id.
    /// Absent: no value is replaced.
    package var aliases: [String: String]?

    package init(
        name: String,
        help: String,
        default: String? = nil,
        pattern: String? = nil,
        aliases: [String: String]? = nil
    ) {
        self.name = name
        self.help = help
        self.default = `default`
        self.pattern = pattern
        self.aliases = aliases
    }
}

/// What a person has to know about a provider.
package struct ProviderNote: Codable, Hashable, Sendable {
    /// What the note is about: client (which kind of client to register, and where), redirects (which redirect URI and
    /// port to register), scopes, device (signing in by a code on another device) or lifetime (when grants expire).
    package var about: String
    /// The note, in one line.
    package var text: String

    package init(about: String, text: String) {
        self.about = about
        self.text = text
    }
}

/// The scopes to ask for if the tokens are for one purpose.
package struct PurposeScopes: Codable, Hashable, Sendable {
    /// "mail", "calendar", "files", or another of the profile's.
    package var purpose: String
    /// The scopes, at least one. They replace all other scopes of the sign-in.
    package var scopes: [String]

    package init(purpose: String, scopes: [String]) {
        self.purpose = purpose
        self.scopes = scopes
    }
}

/// What the daemon knows about a provider in addition to its metadata. Each profile is a file in providers.d. Its URLs
/// may contain variables.
package struct ProviderDescription: Codable, Hashable, Sendable {
    /// The name by which accounts refer to it ("provider").
    package var name: String
    /// The file it was read from.
    package var path: String
    /// The content of that file: everything that the profile says, in YAML with comments. The manual page
    /// provider-profile.yaml describes its keys. The other fields are some of them. Absent: an earlier version sends
    /// the profile.
    package var text: String?
    /// Where the provider documents what the profile says. Absent: not said.
    package var documentation: String?
    /// Where the owner of an account gets a client id, in one line. Absent: not said.
    package var clientIdHint: String?
    /// The variables in the URLs, in the order in which people are asked for them. Absent: there are none.
    package var variables: [ProviderVariable]?
    /// The issuer of accounts that name only the provider. Absent: each account names its own.
    package var issuer: String?
    /// The token endpoint. If it is named here, the daemon fetches no metadata. Absent: the daemon fetches the
    /// metadata.
    package var tokenEndpoint: String?
    /// How clients authenticate if the account does not say it: see AccountSettings. Absent: the daemon chooses by the
    /// metadata.
    package var clientAuthentication: String?
    /// The scopes of a sign-in if the account names none. Absent: none.
    package var scopes: [String]?
    /// Settings that an account needs before anybody can sign in, by their names in AccountSettings: scopes (at least
    /// one of an API, in addition to those of OpenID Connect), redirectPort (or redirectUri, or redirectScheme).
    /// Absent: none.
    package var requiredSettings: [String]?
    /// Scopes by purpose, in the order of the purposes' names. Absent: not said.
    package var scopesFor: [PurposeScopes]?
    /// What people have to know. Absent: nothing.
    package var notes: [ProviderNote]?

    package init(
        name: String,
        path: String,
        text: String? = nil,
        documentation: String? = nil,
        clientIdHint: String? = nil,
        variables: [ProviderVariable]? = nil,
        issuer: String? = nil,
        tokenEndpoint: String? = nil,
        clientAuthentication: String? = nil,
        scopes: [String]? = nil,
        requiredSettings: [String]? = nil,
        scopesFor: [PurposeScopes]? = nil,
        notes: [ProviderNote]? = nil
    ) {
        self.name = name
        self.path = path
        self.text = text
        self.documentation = documentation
        self.clientIdHint = clientIdHint
        self.variables = variables
        self.issuer = issuer
        self.tokenEndpoint = tokenEndpoint
        self.clientAuthentication = clientAuthentication
        self.scopes = scopes
        self.requiredSettings = requiredSettings
        self.scopesFor = scopesFor
        self.notes = notes
    }
}

/// One step of a sign-out, and its result. It contains no secret.
package struct SignOutStep: Codable, Hashable, Sendable {
    /// revoke, end-session (done means that endSessionUrl has the address to open), erase, deregister (RFC 7592; not
    /// for a client that was registered by hand) or remove.
    package var step: String
    /// done, not-needed (there was nothing to do), unsupported (the server does not revoke grants, so trying again is
    /// useless) or failed.
    package var outcome: String
    /// Why it failed. Absent: it did not.
    package var failure: FailureReport?

    package init(step: String, outcome: String, failure: FailureReport? = nil) {
        self.step = step
        self.outcome = outcome
        self.failure = failure
    }
}

/// A finding of a check of the store. It contains no secret.
package struct StoreFinding: Codable, Hashable, Sendable {
    /// What it is about: file, schema, orphans, counts, permissions, key; or of one account: account, token, schedule.
    package var kind: String
    /// The account's name, as it is stored. Absent: it is about the store as a whole.
    package var account: String?
    /// What is wrong, in one sentence.
    package var summary: String
    /// What to do about it.
    package var hint: String
    /// The command in "hint", as it stands there; several: one per line. Absent: it contains none.
    package var command: String?

    package init(kind: String, account: String? = nil, summary: String, hint: Hint) {
        self.kind = kind
        self.account = account
        self.summary = summary
        self.hint = hint.text
        self.command = hint.command
    }

    /// `hint` and the command in it.
    package var help: Hint {
        Hint(hint, command: command)
    }
}

/// The result of one check. It contains no secret.
package struct Finding: Codable, Hashable, Sendable {
    /// What was checked: program, configuration, clock, network, proxy, store, key, accounts, servers, account, dns,
    /// tls or discovery.
    package var check: String
    /// What it concerns: an account's name, an issuer's URL, a host, a path. Absent: the daemon as a whole.
    package var subject: String?
    /// ok, note (nothing has to be done), warning (it works now, but will fail later) or error (it does not work).
    package var level: String
    /// What was found, one sentence.
    package var text: String
    /// What to do, one sentence or a command. Absent: nothing.
    package var advice: String?
    /// The command in "advice", as it stands there; several: one per line. Absent: it contains none.
    package var command: String?
    /// What resolves it: time (it passes by itself), repair (something is set up wrong) or sign-in. Absent: nothing is
    /// needed.
    package var needs: String?

    package init(
        check: String,
        subject: String? = nil,
        level: String,
        text: String,
        advice: Hint? = nil,
        needs: String? = nil
    ) {
        self.check = check
        self.subject = subject
        self.level = level
        self.text = text
        self.advice = advice?.text
        self.command = advice?.command
        self.needs = needs
    }

    /// `advice` and the command in it.
    package var help: Hint? {
        Hint(advice, command: command)
    }
}

/// When the access token of an account expires.
package struct AccountExpiry: Codable, Hashable, Sendable {
    /// The account's local name.
    package var account: String
    /// As in AccountStatus.
    package var state: String
    /// When the access token expires, µs since 1970. This may be in the past. Absent: there is none.
    package var expiresAtUSec: Int64?

    package init(account: String, state: String, expiresAtUSec: Int64? = nil) {
        self.account = account
        self.state = state
        self.expiresAtUSec = expiresAtUSec
    }
}
