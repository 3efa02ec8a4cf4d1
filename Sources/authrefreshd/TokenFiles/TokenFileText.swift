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

    fileprivate init(_ content: TokenFiles.Content, _ text: Secret) {
        (self.content, self.text) = (content, text)
    }

    fileprivate init(lack: String) {
        self.lack = lack
    }

    fileprivate init(_ content: TokenFiles.Content, _ token: AccessToken, until end: Timestamp) {
        switch content.file.kind {
        // The SDKs of AWS and Azure read the whole file as the token, including a line break. WLCG's discovery removes
        // white space.
        case .access, .id: self.init(content, token.secret)
        case .json:
            // The object that `authctl token --json` prints.
            var object = JSONObjectText()
            object.add("accessToken", JSONText.quote(token.secret.reveal()))
            object.add("expiresAt", UTCStamp.text(end.microseconds).map(JSONText.quote))
            object.add("expiresAtUSec", String(end.microseconds))
            object.add("tokenType", JSONText.quote(token.scheme))
            self.init(content, Secret(object.text + "\n"))
        case .bearerHeader where token.scheme != "Bearer":
            self.init(lack: "a token of the type '\(token.scheme)' needs more than a header line")
        case .bearerHeader:
            let value = token.secret.reveal()
            // RFC 6749 §A.12. A line break would begin another header.
            let isVisible = value.utf8.allSatisfy { (0x20...0x7E).contains($0) }
            self =
                isVisible
                ? Self(content, Secret("Authorization: Bearer \(value)\n"))
                : Self(lack: "the token has characters that no header may carry")
        }
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
        let content = { (lifetime: Duration) in
            // The file must not outlive the time after which the account signs out by itself.
            let most = timeToSignOut.map { now.longestElapsed(since: times.issuedAt) + $0 } ?? lifetime
            return TokenFiles.Content(file: file, issuedAt: times.issuedAt, lifetime: min(most, lifetime))
        }
        guard file.kind == .id else {
            return try records.accessToken(of: account.id)
                .map { TokenFileText(content(times.lifetime), $0, until: times.expiresAt(at: now)) }
        }
        guard account.registration.serviceGrant == nil else {
            return TokenFileText(lack: "the account acts for itself, and an ID token is about a person who signed in")
        }
        guard let token = try store.tokens.idToken(of: account.id), let claims = try? IDToken(stored: token) else {
            return TokenFileText(lack: "there is no ID token: sign in with the scope 'openid'")
        }
        let rest = claims.expiresAt - (now.wall + (host.clockSkew(of: record.issuerID, in: store) ?? .zero))
        guard rest > .zero else {
            return TokenFileText(
                lack: "the ID token has expired, and the last refresh brought no new one: sign in again"
            )
        }
        return TokenFileText(content(now.elapsed(since: times.issuedAt) + rest), token)
    }
}
