internal import AccountStorage
internal import RefreshCore

/// One call to the store, as the daemon makes it.
enum Step {
    /// The phases to which the steps lead.
    enum Phase: Equatable {
        case signedOut, scheduled, refreshing, other
    }

    case add([String])
    /// The decision to spend the refresh tokens of these accounts, in one transaction.
    case lease([String])
    /// The answers with new tokens for each account, in one transaction.
    case rotate([String])
    /// A person signs in: a new grant replaces the old one.
    case signIn(String)
    case signOut(String)
    case remove(String)
    case beginRekey
    case reseal
    case forgetRetiredKey

    /// Makes the call. It may be repeated after it has thrown.
    ///
    /// - Parameter grants: the store's content before it.
    func perform(on store: AccountStore, _ grants: Grants) throws {
        switch self {
        case .add(let names): _ = try store.add(names.map(Sample.account))
        case .lease(let names):
            try store.commit(names.map { try Sample.write($0, grants, in: store, phase: .refreshing) })
        case .rotate(let names):
            try store.commit(names.map { try Sample.write($0, grants, in: store, phase: .scheduled) })
        case .signIn(let name): try store.commit([Sample.signIn(name, grants, in: store)])
        case .signOut(let name): try store.commit([Sample.write(name, grants, in: store, phase: .signedOut)])
        case .remove(let name): try store.remove(Sample.id(of: name, in: store))
        case .beginRekey: try store.rekeying.begin(to: Sample.otherKey(than: store.rekeying.keyIdentifier))
        case .reseal: _ = try store.rekeying.reseal(limit: 2)
        case .forgetRetiredKey: try store.rekeying.forgetRetiredKey()
        }
    }

    /// Applies the effect of the call to the expected content.
    func apply(to grants: inout Grants) {
        switch self {
        case .add(let names):
            for name in names { grants.byAccount[name] = Grants.Grant() }
        case .lease(let names):
            for name in names { grants.byAccount[name]?.phase = .refreshing }
        case .rotate(let names):
            for name in names { grants.byAccount[name]?.rotate(Sample.tokens(of: name)) }
        case .signIn(let name): grants.byAccount[name]?.replace(Sample.tokens(of: name))
        case .signOut(let name): grants.byAccount[name]?.erase()
        case .remove(let name): grants.byAccount[name] = nil
        case .beginRekey, .reseal, .forgetRetiredKey: break
        }
    }
}

extension Step.Phase {
    init(_ phase: RefreshCore.Phase) {
        switch phase {
        case .signedOut: self = .signedOut
        case .scheduled: self = .scheduled
        case .refreshing: self = .refreshing
        case .backingOff, .interactionRequired, .parked: self = .other
        }
    }
}

extension Grants.Grant {
    typealias Tokens = @Sendable (Int64) -> (access: String, refresh: String)

    fileprivate mutating func rotate(_ tokens: Tokens) {
        let current = refreshTokens[generation]
        refreshTokens = current.map { [generation: $0] } ?? [:]
        take(tokens)
    }

    fileprivate mutating func replace(_ tokens: Tokens) {
        refreshTokens = [:]
        take(tokens)
    }

    private mutating func take(_ tokens: Tokens) {
        generation += 1
        phase = .scheduled
        let issued = tokens(generation)
        refreshTokens[generation] = issued.refresh
        accessToken = issued.access
    }

    fileprivate mutating func erase() {
        generation += 1
        phase = .signedOut
        refreshTokens = [:]
        accessToken = nil
    }
}
