package import RefreshCore

/// Every place where the store's key may be, and what to do with it there.
///
/// A store opens with those of the keys at hand that it was sealed with, wherever they are: moving the key to another place is a
/// change of the key (`next(after:)`, `AccountStore.reseal`, `settle(on:)`) and never makes the store unreadable. New keys are made
/// in the first place that there is: a systemd credential, the Secret Service if it is wanted, a file.
///
/// Calls block: the Secret Service may take its time.
package struct StoreKeyring: Sendable {
    package let source: StoreKeySource
    package let secretService: SecretServiceKeys
    /// Whether new keys are kept in the Secret Service.
    package private(set) var usesSecretService: Bool
    /// Whether it has been wanted, and so may hold keys of this store.
    private var asksSecretService: Bool

    package init(source: StoreKeySource, secretService: SecretServiceKeys, usesSecretService: Bool) {
        self.source = source
        self.secretService = secretService
        self.usesSecretService = usesSecretService
        asksSecretService = usesSecretService
    }

    /// Has the keys that are made from now on kept in the Secret Service, or not; those that are there are still found and removed.
    package mutating func useSecretService(_ isWanted: Bool) {
        usesSecretService = isWanted
        asksSecretService = asksSecretService || isWanted
    }

    /// Opens the store at `path`; a new one gets a new key, unless there is one already.
    package func openStore(at path: String) throws(StoreOpeningError) -> sending AccountStore {
        guard try key(source.holdsStore(at: path)) else {
            let first = try key(firstKey().key)
            do throws(StoreError) {
                return try AccountStore(path: path, keys: [first])
            } catch {
                throw .store(error)
            }
        }
        return try openExisting(path)
    }

    /// Asks for keys on the way to a store.
    private func key<Value>(_ work: @autoclosure () throws(StoreKeyError) -> Value) throws(StoreOpeningError) -> Value {
        do throws(StoreKeyError) {
            return try work()
        } catch {
            throw .key(error)
        }
    }

    private func openExisting(_ path: String) throws(StoreOpeningError) -> sending AccountStore {
        var keys: [StoreKey] = []
        var wrongKey: StoreError?
        var missing: String?
        for place in places {
            let found = try key(place()).map(\.key)
            guard !found.isEmpty else { continue }
            keys += found
            do throws(StoreError) {
                return try AccountStore(path: path, keys: keys)
            } catch {
                guard case .wrongKey(_, let expected, _) = error else { throw .store(error) }
                (wrongKey, missing) = (error, expected)
            }
        }
        if let wrongKey, !usesSecretService { throw .store(wrongKey) }
        throw .key(absence(of: missing))
    }

    /// Where keys are looked for, in this order, the Secret Service only if its answer is needed: it may be locked.
    private var places: [() throws(StoreKeyError) -> [HeldKey]] {
        [source.credentials, source.files, secretServiceKeys]
    }

    /// What the Secret Service has. It is asked whether it is wanted or not: a change of the key away from it may have ended half-way.
    private func secretServiceKeys() throws(StoreKeyError) -> [HeldKey] {
        do {
            return try secretService.keys()
        } catch {
            // Where nothing is expected of it, only a locked one speaks for keys that may be in it.
            guard usesSecretService || isChangeUnderWay || error == .secretServiceLocked else { return [] }
            throw error
        }
    }

    /// That a key is in no place. Where a keyring is wanted it may come yet, or be unlocked.
    ///
    /// - Parameter identifier: the key's; nil if it is not known.
    private func absence(of identifier: String?) -> StoreKeyError {
        usesSecretService ? .secretServiceLacksKey(identifier: identifier) : .keyMissing(path: source.keyFilePath)
    }

    /// Where a daemon that is started now would find the key of this identifier.
    ///
    /// - Throws: what it would stumble over.
    package func locate(_ identifier: String) throws(StoreKeyError) -> StoreKeyPlace {
        for place in places {
            if let held = try place().first(where: { $0.key.identifier == identifier }) { return held.place }
        }
        throw absence(of: identifier)
    }

    /// Whether a key waits beside the store for the present one, wherever that is, to be replaced by it.
    private var isChangeUnderWay: Bool {
        ((try? source.files()) ?? []).contains { $0.place == .nextFile }
    }

    private func firstKey() throws(StoreKeyError) -> HeldKey {
        if let credential = try source.credentials().first { return credential }
        if usesSecretService {
            if let key = try secretService.keys().first { return key }
            return try secretService.create()
        }
        if let file = try source.files().first { return file }
        return try source.createFile()
    }

    /// The key that the store is to be sealed with in place of the one of this identifier; it is kept safe when this returns.
    ///
    /// - Throws: `credentialHasNoSuccessor` or `successorNotInPlace` if its owner has to provide it first; what keeps a new one from
    ///   being stored.
    package func next(after identifier: String) throws(StoreKeyError) -> HeldKey {
        let credentials = try source.credentials()
        if credentials.isEmpty {
            return usesSecretService ? try secretService.create() : try source.createNextFile()
        }
        let present = credentials.first { $0.key.identifier == identifier }
        switch present?.place {
        case .nextCredential: throw .successorNotInPlace
        case .credential:
            guard let next = credentials.first(where: { $0.key.identifier != identifier }) else {
                throw .credentialHasNoSuccessor
            }
            return next
        case .secretService, .file, .nextFile, nil: return credentials[0]
        }
    }

    /// Destroys all keys of the store but the one of this identifier, where they are ours to destroy; nothing must be sealed with them
    /// any more. May be repeated.
    ///
    /// - Throws: `successorMissing` if the key of this identifier is found in no place any more: then all others are kept.
    package func settle(on identifier: String) throws(StoreKeyError) {
        let held = try source.credentials() + source.files()
        if !held.contains(where: { $0.key.identifier == identifier }) {
            let isKept = try secretService.keys().contains { $0.key.identifier == identifier }
            guard isKept else { throw .successorMissing(identifier: identifier) }
        }
        // An old key that is in none of these places can only be in the Secret Service, wanted or not. It comes first: as long as the
        // old key's file is there, nobody has to ask.
        let isElsewhere = held.contains { $0.key.identifier != identifier }
        let service = Result { () throws(StoreKeyError) in
            if asksSecretService || !isElsewhere { try secretService.removeOthers(identifier) }
        }
        try source.settleFiles(on: identifier)
        try service.get()
    }

    /// Where the key of this identifier is, if it is at hand; else it can only be in the Secret Service.
    package func place(of identifier: String) -> StoreKeyPlace {
        let held = ((try? source.credentials()) ?? []) + ((try? source.files()) ?? [])
        return held.first { $0.key.identifier == identifier }?.place ?? .secretService
    }
}

/// Why a store cannot be opened.
package enum StoreOpeningError: Error, Equatable, Sendable {
    case key(StoreKeyError)
    case store(StoreError)
}

/// The items of the Secret Service that belong to one store; every call blocks until the service has answered.
package struct SecretServiceKeys: Sendable {
    /// The contents of all of them, unlocked first if that needs nobody.
    ///
    /// - Throws: `secretServiceLocked`, `secretServiceUnavailable`, `secretServiceRefused`.
    package var load: @Sendable () throws(StoreKeyError) -> [Secret]
    /// Makes an item for the key of this identifier.
    package var add: @Sendable (_ contents: Secret, _ identifier: String) throws(StoreKeyError) -> Void
    /// Removes all of them but the one for the key of this identifier.
    package var removeOthers: @Sendable (_ identifier: String) throws(StoreKeyError) -> Void

    package init(
        load: @escaping @Sendable () throws(StoreKeyError) -> [Secret],
        add: @escaping @Sendable (_ contents: Secret, _ identifier: String) throws(StoreKeyError) -> Void,
        removeOthers: @escaping @Sendable (_ identifier: String) throws(StoreKeyError) -> Void
    ) {
        self.load = load
        self.add = add
        self.removeOthers = removeOthers
    }

    func keys() throws(StoreKeyError) -> [HeldKey] {
        try load().compactMap { contents in
            StoreKey(contents: contents).map { HeldKey($0, in: .secretService) }
        }
    }

    /// Makes a key, and keeps it in the Secret Service.
    func create() throws(StoreKeyError) -> HeldKey {
        let key = StoreKey.random()
        try add(key.digits, key.identifier)
        return HeldKey(key, in: .secretService)
    }
}
