/// All grants of this server, and the rules for using up refresh tokens.
///
/// It is a value without a clock and sockets: `now` is the time since the Unix epoch. Grants are kept as long as the
/// ledger exists. The data inside a grant is limited by the two limits below.
struct GrantLedger: Sendable {
    /// The rules for everything that is issued or decided from now on. Existing grants keep the lifetimes that were
    /// stated.
    var policy: GrantPolicy

    private var families: [GrantFamily] = []
    private var refreshTokens: [OpaqueToken: TokenPosition] = [:]
    private var accessTokens: [OpaqueToken: AccessTokenRecord] = [:]
    /// The grants that clients have without a person at a browser, by client and subject.
    private var serviceFamilies: [[String]: Int] = [:]

    /// How many spent refresh tokens are stored for each grant. Older ones count as unknown, as at servers that clean
    /// up. A client that is 64 rotations behind has lost its state, and nobody needs reuse detection to notice that.
    static let spentTokensKept = 64
    /// How many live access tokens are stored for each grant; the oldest is removed first. Zoho allows 30 per refresh
    /// token, GitHub ten.
    static let accessTokensKept = 16

    init(policy: GrantPolicy) {
        self.policy = policy
    }

    /// How many grants were issued, including revoked ones.
    var count: Int { families.count }

    /// Issues a grant to a client; `scope` is space-separated (RFC 6749 §3.3).
    mutating func issueGrant(clientID: String, subject: String, scope: String) -> IssuedGrant {
        let token = OpaqueToken(.refresh)
        families.append(GrantFamily(clientID: clientID, subject: subject, scope: scope, refreshToken: token))
        refreshTokens[token] = TokenPosition(family: families.count, generation: 1)
        return IssuedGrant(family: families.count, refreshToken: token.text)
    }

    /// Issues a grant and its first tokens to a client, as a sign-in does.
    mutating func openGrant(clientID: String, subject: String, scope: String, at now: Duration) -> IssuedTokens {
        let grant = issueGrant(clientID: clientID, subject: subject, scope: scope)
        let access = addAccessToken(grant.family, AskedToken(), at: now)
        return answer(with: access, tellsRefreshToken: policy.issuesRefreshTokens)
    }

    /// Issues an access token that a client requests in its own name (RFC 6749 §4.4.3, RFC 7523 §2.1). There is no
    /// refresh token with it.
    ///
    /// - Parameters:
    ///   - subject: whom it is for; nil for the client itself.
    ///   - scope: everything that the client may do, space-separated.
    mutating func issueServiceToken(
        clientID: String,
        subject: String? = nil,
        scope: String,
        asking asked: AskedToken,
        at now: Duration
    ) -> RefreshDecision {
        if let wish = asked.scope, !Self.covers(scope, wish) { return .scopeTooWide }
        guard asked.audiences.allSatisfy(isKnown), asked.resources.allSatisfy(Self.isResource) else {
            return .unknownTarget
        }
        let family: Int
        let subject = subject ?? clientID
        if let known = serviceFamilies[[clientID, subject]], self[known].revokedBy == nil, self[known].scope == scope {
            family = known
        } else {
            family = issueGrant(clientID: clientID, subject: subject, scope: scope).family
            serviceFamilies[[clientID, subject]] = family
        }
        let access = addAccessToken(family, asked, at: now)
        return .issued(answer(with: access, tellsRefreshToken: false))
    }

    /// The position of a refresh token, valid or spent; nil if the ledger does not know the token.
    func position(ofRefreshToken text: String) -> TokenPosition? {
        OpaqueToken(text).flatMap { refreshTokens[$0] }
    }

    /// Exchanges a refresh token (RFC 6749 §6). `asked` is about the access token only; the grant keeps its scope.
    mutating func refresh(
        _ text: String,
        clientID: String,
        asking asked: AskedToken = AskedToken(),
        at now: Duration
    ) -> RefreshDecision {
        guard let position = position(ofRefreshToken: text) else { return .unknownToken }
        let family = self[position.family]
        guard family.clientID == clientID else { return .wrongClient }
        if position.generation < family.generation, !isWithinGrace(position, at: now) {
            return .spentToken(revokedFamily: noteReuse(of: position.family))
        }
        if let revocation = family.revokedBy { return .revokedGrant(revocation) }
        if let scope = asked.scope, !Self.covers(family.scope, scope) { return .scopeTooWide }
        guard asked.audiences.allSatisfy(isKnown), asked.resources.allSatisfy(Self.isResource) else {
            return .unknownTarget
        }

        if position.generation < family.generation {
            return .graceRepeat(repeatAnswer(position.family, asked, at: now))
        }
        if policy.isRotating { rotate(position.family, at: now) }
        let asked = narrowed(asked, of: position.family)
        let access = addAccessToken(position.family, asked, at: now)
        let tokens = answer(with: access, tellsRefreshToken: policy.isRotating)
        return policy.isRotating ? .rotated(tokens) : .issued(tokens)
    }

    /// Revokes a token (RFC 7009). A refresh token ends its grant, an access token only itself. Nothing is left to
    /// revoke in a spent refresh token.
    mutating func revoke(_ text: String, clientID: String) -> LogEntry.Outcome {
        guard let token = OpaqueToken(text) else { return .unknownToken }
        if let position = refreshTokens[token] {
            guard self[position.family].clientID == clientID else { return .wrongClient }
            guard self[position.family].refreshToken == token else { return .unknownToken }
            end(position.family, by: .client)
            return .revoked
        }
        guard let record = accessTokens[token] else { return .unknownToken }
        guard self[record.family].clientID == clientID else { return .wrongClient }
        accessTokens[token] = nil
        self[record.family].access.removeAll { $0 == token }
        return .revoked
    }

    /// Revokes a grant, as an administrator does; returns whether it exists.
    mutating func revokeGrant(_ family: Int) -> Bool {
        guard contains(family) else { return false }
        end(family, by: .administrator)
        return true
    }

    /// Revokes a grant's access tokens but not the grant; returns whether it exists.
    mutating func revokeAccessTokens(_ family: Int) -> Bool {
        guard contains(family) else { return false }
        dropAccessTokens(family)
        return true
    }

    /// Describes a token that is valid at `now`; nil for every other (RFC 7662 §2.2: `active` is false).
    func liveToken(_ text: String, at now: Duration) -> LiveToken? {
        guard let token = OpaqueToken(text) else { return nil }
        if let record = accessTokens[token], now < record.expiresAt {
            return describe(
                record.family,
                asked: record.asked,
                expiresAt: record.expiresAt,
                isRefreshToken: false
            )
        }
        guard let position = refreshTokens[token] else { return nil }
        let family = self[position.family]
        guard family.revokedBy == nil, family.refreshToken == token else { return nil }
        return describe(position.family, asked: AskedToken(), expiresAt: nil, isRefreshToken: true)
    }

    /// The state of a grant; nil if it was never issued.
    func summary(ofGrant family: Int) -> GrantSummary? {
        guard contains(family) else { return nil }
        let grant = self[family]
        return GrantSummary(
            family: family,
            clientID: grant.clientID,
            subject: grant.subject,
            scope: grant.scope,
            generation: grant.generation,
            revokedBy: grant.revokedBy
        )
    }

    // Families are numbered from 1, so that 0 is never mistaken for one.
    private subscript(_ family: Int) -> GrantFamily {
        get { families[family - 1] }
        _modify { yield &families[family - 1] }
    }

    private func contains(_ family: Int) -> Bool {
        families.indices.contains(family - 1)
    }

    // Only the last replaced token is accepted again, as at Auth0. The successor of an older one has already been used.
    private func isWithinGrace(_ position: TokenPosition, at now: Duration) -> Bool {
        let family = self[position.family]
        guard position.generation == family.generation - 1, let rotatedAt = family.rotatedAt else { return false }
        return policy.gracePeriod > .zero && now <= rotatedAt + policy.gracePeriod
    }

    /// Records the reuse of a spent token; returns whether that ended the grant. A grant that had already ended does
    /// not end again.
    private mutating func noteReuse(of family: Int) -> Bool {
        guard policy.detectsReuse, self[family].revokedBy == nil else { return false }
        end(family, by: .reuseDetected)
        return true
    }

    /// The request, after the effects of earlier requests with a narrower scope.
    private mutating func narrowed(_ asked: AskedToken, of family: Int) -> AskedToken {
        var asked = asked
        switch policy.narrowing {
        case .none: break
        case .untilNamed:
            self[family].usualScope = asked.scope ?? self[family].usualScope
            asked.scope = self[family].usualScope
        case .forGood: self[family].scope = asked.scope ?? self[family].scope
        }
        return asked
    }

    private mutating func rotate(_ family: Int, at now: Duration) {
        let token = OpaqueToken(.refresh)
        self[family].spent.append(self[family].refreshToken)
        if self[family].spent.count > Self.spentTokensKept {
            refreshTokens[self[family].spent.removeFirst()] = nil
        }
        self[family].generation += 1
        self[family].refreshToken = token
        self[family].rotatedAt = now
        refreshTokens[token] = TokenPosition(family: family, generation: self[family].generation)
    }

    private mutating func addAccessToken(_ family: Int, _ asked: AskedToken, at now: Duration) -> AccessTokenRecord {
        while let oldest = self[family].access.first,
            self[family].access.count >= Self.accessTokensKept
                || accessTokens[oldest].map({ $0.expiresAt <= now }) ?? true
        {
            accessTokens[self[family].access.removeFirst()] = nil
        }
        let record = AccessTokenRecord(
            token: OpaqueToken(.access),
            family: family,
            expiresAt: now + policy.accessTokenLifetime,
            asked: asked
        )
        self[family].access.append(record.token)
        accessTokens[record.token] = record
        return record
    }

    // The access token of the first answer may have expired since, because a grace period can outlast it, or may not be
    // what is requested now. Then a new one is issued instead.
    private mutating func repeatAnswer(_ family: Int, _ asked: AskedToken, at now: Duration) -> IssuedTokens {
        if let last = self[family].access.last, let record = accessTokens[last], now < record.expiresAt,
            record.asked == asked
        {
            return answer(with: record, tellsRefreshToken: true)
        }
        let access = addAccessToken(family, asked, at: now)
        return answer(with: access, tellsRefreshToken: true)
    }

    private func answer(with access: AccessTokenRecord, tellsRefreshToken: Bool) -> IssuedTokens {
        let family = self[access.family]
        return IssuedTokens(
            accessToken: access.token.text,
            accessTokenExpiresAt: access.expiresAt,
            refreshToken: tellsRefreshToken ? family.refreshToken.text : nil,
            scope: access.asked.scope ?? family.scope,
            position: TokenPosition(family: access.family, generation: family.generation)
        )
    }

    private mutating func end(_ family: Int, by revocation: RevocationCause) {
        if self[family].revokedBy == nil { self[family].revokedBy = revocation }
        dropAccessTokens(family)
    }

    private mutating func dropAccessTokens(_ family: Int) {
        for token in self[family].access { accessTokens[token] = nil }
        self[family].access = []
    }

    private func describe(_ family: Int, asked: AskedToken, expiresAt: Duration?, isRefreshToken: Bool) -> LiveToken {
        let grant = self[family]
        return LiveToken(
            isRefreshToken: isRefreshToken,
            family: family,
            clientID: grant.clientID,
            subject: grant.subject,
            actor: asked.actor,
            scope: asked.scope ?? grant.scope,
            audiences: asked.audiences,
            expiresAt: expiresAt
        )
    }

    private func isKnown(_ target: String) -> Bool {
        policy.knownTargets?.contains(target) ?? true
    }

    /// Whether it is an absolute URI without a fragment (RFC 8707 §2).
    private static func isResource(_ text: String) -> Bool {
        text.contains(":") && !text.hasPrefix(":") && !text.contains("#")
    }

    private static func covers(_ granted: String, _ asked: String) -> Bool {
        Set(granted.split(separator: " ")).isSuperset(of: asked.split(separator: " "))
    }
}
