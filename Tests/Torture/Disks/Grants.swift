internal import AccountStorage
internal import RefreshCore

/// The expected content of the store for each account, as far as a lost or revived token would show.
struct Grants: Equatable {
    struct Grant: Equatable {
        var generation: Int64 = 0
        var phase = Step.Phase.signedOut
        /// The refresh tokens by generation.
        var refreshTokens: [Int64: String] = [:]
        var accessToken: String?
    }

    var byAccount: [String: Grant] = [:]

    init() {}

    /// The content of a store.
    init(in store: AccountStore) throws {
        for entry in try store.entries(after: nil, limit: 1_000) {
            guard case .intact(let record) = entry else { throw Violation("the account '\(entry.name)' is damaged") }
            byAccount[record.account.name.text] = try Grant(of: record, in: store)
        }
    }
}

extension Grants.Grant {
    fileprivate init(of record: Record, in store: AccountStore) throws {
        let state = record.state
        generation = state.generation.rawValue
        phase = Step.Phase(state.phase)
        // The token before the previous one must be gone, and the next one cannot be there yet.
        for candidate in max(0, generation - 2)...generation + 1 {
            let token = try store.tokens.refreshToken(of: record.account.id, generation: Generation(candidate))
            refreshTokens[candidate] = token?.secret.reveal()
        }
        accessToken = try store.tokens.accessToken(of: record.account.id)?.secret.reveal()
    }
}

/// A state that must never occur.
struct Violation: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
