internal import AccountStorage
internal import RefreshCore

/// The data written to the store, depending on an account's name and generation.
enum Sample {
    static let keys = [UInt8(7), 8].compactMap { StoreKey(Secret(repeatElement($0, count: 32))) }

    private static let start = Moment(
        wall: Timestamp(microseconds: 1_700_000_000_000_000),
        boot: BootTime(bootID: 1, microseconds: 1)
    )

    static func otherKey(than identifier: String) throws -> StoreKey {
        guard let key = keys.first(where: { $0.identifier != identifier }) else { throw Violation("no other key") }
        return key
    }

    static func account(_ name: String) throws -> NewAccount {
        NewAccount(
            Account(
                name: try accountName(name),
                issuer: try Issuer(url: "https://login.example.org"),
                registration: ClientRegistration(clientID: "client")
            ),
            createdAt: start.wall
        )
    }

    /// The tokens of a generation. The access token fills pages, so that the log grows as it does over years.
    static func tokens(of name: String) -> Grants.Grant.Tokens {
        { generation in
            (String(repeating: "\(name)\(generation).", count: 800), "\(name)-refresh-\(generation)")
        }
    }

    static func id(of name: String, in store: AccountStore) throws -> AccountID {
        guard let record = try store.record(named: accountName(name)) else { throw Violation("'\(name)' is not there") }
        return record.account.id
    }

    /// The lease, the answer with a rotated refresh token, or the end of the grant.
    static func write(
        _ name: String,
        _ grants: Grants,
        in store: AccountStore,
        phase: Step.Phase
    ) throws -> StateWrite {
        let account = try id(of: name, in: store)
        let base = Generation(grants.byAccount[name]?.generation ?? 0)
        switch phase {
        case .refreshing:
            let lease = Lease(generation: base, startedAt: start)
            var state = self.state(base)
            state.phase = .refreshing(lease)
            return StateWrite(account: account, base: base, state: state)
        case .scheduled:
            var state = self.state(base.next)
            state.previous = PreviousRefreshToken(generation: base, replacedAt: start)
            return StateWrite(account: account, base: base, state: state, tokens: .store(stored(name, base.next)))
        case .signedOut, .other:
            var state = RefreshState.unused
            state.generation = base.next
            return StateWrite(account: account, base: base, state: state, tokens: .erase)
        }
    }

    static func signIn(_ name: String, _ grants: Grants, in store: AccountStore) throws -> StateWrite {
        let base = Generation(grants.byAccount[name]?.generation ?? 0)
        return StateWrite(
            account: try id(of: name, in: store),
            base: base,
            state: state(base.next),
            tokens: .replace(stored(name, base.next), GrantFacts())
        )
    }

    private static func accountName(_ text: String) throws -> AccountName {
        guard let name = AccountName(text) else { throw Violation("'\(text)' is no name") }
        return name
    }

    private static func state(_ generation: Generation) -> RefreshState {
        var state = RefreshState.unused
        (state.generation, state.phase, state.deadline) = (generation, .scheduled, start.wall)
        state.accessToken = AccessTokenTimes(issuedAt: start, lifetime: .seconds(3600), refreshAfter: .seconds(2400))
        return state
    }

    private static func stored(_ name: String, _ generation: Generation) -> StoredTokens {
        let issued = tokens(of: name)(generation.rawValue)
        return StoredTokens(
            accessToken: AccessToken(Secret(issued.access)),
            refreshToken: RefreshToken(Secret(issued.refresh))
        )
    }
}
