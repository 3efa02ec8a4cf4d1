internal import AccountStorage
internal import RefreshCore

/// What the store is to hold of every account: what was written to it, as far as a lost or a revived token would show.
struct Grants: Equatable {
    struct Grant: Equatable {
        var generation: Int64 = 0
        var phase = Step.Phase.signedOut
        /// By the generations of the tokens.
        var refreshTokens: [Int64: String] = [:]
        var accessToken: String?
    }

    var byAccount: [String: Grant] = [:]

    init() {}

    /// What a store holds.
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
        // The one before the previous must be gone, and the next one cannot be there.
        for candidate in max(0, generation - 2)...generation + 1 {
            let token = try store.tokens.refreshToken(of: record.account.id, generation: Generation(candidate))
            refreshTokens[candidate] = token?.secret.reveal()
        }
        accessToken = try store.tokens.accessToken(of: record.account.id)?.secret.reveal()
    }
}

/// Something that must never be so.
struct Violation: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
