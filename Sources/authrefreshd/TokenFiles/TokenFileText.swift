internal import AccountStorage
internal import AuthRefreshInterface
internal import OAuthMessages
internal import RefreshCore
internal import TextEncodings

/// The current content of an account's token file.
struct TokenFileText {
    /// The content; nil if there is no token to write.
    private(set) var content: TokenFiles.Content?
    private(set) var text: Secret?
    /// Why there is no content, if the account does have a valid token.
    private(set) var lack: String?
    /// When the account signs out by itself, counted from the token's issue; nil if it stays.
    private var signOutAfter: Duration?

    /// The content of a file for the account's present token, which is still to be added.
    ///
    /// - Parameter timeToSignOut: how long until the account signs out by itself; nil if it stays.
    fileprivate init(_ file: TokenFile, _ times: AccessTokenTimes, timeToSignOut: Duration?, at now: Moment) {
        signOutAfter = timeToSignOut.map { now.longestElapsed(since: times.issuedAt) + $0 }
        take(lifetime: times.lifetime, of: file, issuedAt: times.issuedAt)
    }

    fileprivate mutating func take(_ token: AccessToken, as kind: TokenFile.Kind, until end: Timestamp) {
        switch kind {
        // The SDKs of AWS and Azure read the whole file as the token, including a line break. WLCG's discovery removes
        // white space.
        case .access, .id: text = token.secret
        case .json: text = Secret(Self.object(token, until: end) + "\n")
        case .bearerHeader:
            guard token.scheme == "Bearer" else {
                return refuse("a token of the type '\(token.scheme)' needs more than a header line")
            }
            let value = token.secret.reveal()
            // RFC 6749 §A.12. A line break would begin another header.
            guard value.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
                return refuse("the token has characters that no header may carry")
            }
            text = Secret("Authorization: Bearer \(value)\n")
        }
    }

    /// The JSON object that `authctl token --json` prints.
    private static func object(_ token: AccessToken, until end: Timestamp) -> String {
        var object = JSONObjectText()
        object.add("accessToken", JSONText.quote(token.secret.reveal()))
        object.add("expiresAt", UTCStamp.text(end.microseconds).map(JSONText.quote))
        object.add("expiresAtUSec", String(end.microseconds))
        object.add("tokenType", JSONText.quote(token.scheme))
        return object.text
    }

    fileprivate mutating func take(_ token: Secret?, of account: Account, skew: Duration, at now: Moment) {
        guard account.registration.serviceGrant == nil else {
            return refuse("the account acts for itself, and an ID token is about a person who signed in")
        }
        guard let token, let claims = try? IDToken(stored: token) else {
            return refuse("there is no ID token: sign in with the scope 'openid'")
        }
        let rest = claims.expiresAt - (now.wall + skew)
        guard rest > .zero, let file = content?.file, let issuedAt = content?.issuedAt else {
            return refuse("the ID token has expired, and the last refresh brought no new one: sign in again")
        }
        let lifetime = now.elapsed(since: issuedAt) + rest
        take(lifetime: lifetime, of: file, issuedAt: issuedAt)
        text = token
    }

    /// The file must not outlive the time after which the account signs out by itself.
    private mutating func take(lifetime: Duration, of file: TokenFile, issuedAt: Moment) {
        let lifetime = signOutAfter.map { min($0, lifetime) } ?? lifetime
        content = TokenFiles.Content(file: file, issuedAt: issuedAt, lifetime: lifetime)
    }

    private mutating func refuse(_ reason: String) {
        content = nil
        lack = reason
    }
}

extension RefreshCoordinator {
    /// The content of the account's token file; nil if the account has no file or no valid token. The file of an account
    /// that signs out by itself goes when the daemon stops, because then nobody would remove it in time.
    func tokenFileText(of record: Record, at now: Moment) throws(StoreError) -> TokenFileText? {
        let account = record.account
        guard let file = account.delivery.file, record.state.phase != .signedOut, let times = record.state.accessToken,
            times.remaining(at: now) > .zero
        else { return nil }
        let sources = timeToSignOut(ofSourcesOf: account, at: now)
        let timeToSignOut = [record.state.timeToSignOut(at: now), sources].compactMap(\.self).min()
        guard timeToSignOut != .zero, timeToSignOut == nil || !isStopping else { return nil }
        var text = TokenFileText(file, times, timeToSignOut: timeToSignOut, at: now)
        if file.kind == .id {
            let skew = host.clockSkew(of: record.issuerID, in: store) ?? .zero
            text.take(try records.idToken(of: account.id), of: account, skew: skew, at: now)
            return text
        }
        guard let token = try records.accessToken(of: account.id) else { return nil }
        text.take(token, as: file.kind, until: times.expiresAt(at: now))
        return text
    }
}
