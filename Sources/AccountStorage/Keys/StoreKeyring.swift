package import RefreshCore

/// All places where the store's key may be, and what to do with it there.
///
/// A store opens with the keys that it is sealed with, wherever they are. Moving the key to another place is a change
/// of the key (`next(after:)`, `AccountStore.reseal`, `settle(on:)`) and never makes the store unreadable. A new key
/// goes to the first available place: a systemd credential, the Secret Service if it is configured, or a file.
///
/// Calls block, because the Secret Service may be slow.
package struct StoreKeyring: Sendable {
    package let source: StoreKeySource
    package let secretService: SecretServiceKeys
    /// Whether new keys are stored in the Secret Service.
    package private(set) var usesSecretService: Bool
    /// Whether the Secret Service was ever configured, and so may have keys of this store.
    private var asksSecretService: Bool

    package init(source: StoreKeySource, secretService: SecretServiceKeys, usesSecretService: Bool) {
        self.source = source
        self.secretService = secretService
        self.usesSecretService = usesSecretService
        asksSecretService = usesSecretService
    }

    /// Sets whether new keys are stored in the Secret Service. Existing keys are still found and removed.
    package mutating func useSecretService(_ isWanted: Bool) {
        usesSecretService = isWanted
        asksSecretService = asksSecretService || isWanted
    }

    /// Opens the store at `path`. A new store gets a new key, unless there is one already.
    ///
    /// - Parameter memory: remembers the stores of this machine. A store that it remembers is never made anew.
    package func openStore(
        at path: String,
        rememberedIn memory: StoreMemory? = nil
    ) throws(StoreError) -> sending AccountStore {
        let store = try open(path, memory)
        memory?.remember(path)
        return store
    }

    private func open(_ path: String, _ memory: StoreMemory?) throws(StoreError) -> sending AccountStore {
        guard try key(source.holdsStore(at: path)) else {
            if let record = memory?.record(of: path) { throw .missing(path: path, record: record) }
            let first = try key(firstKey().key)
            return try AccountStore(path: path, keys: [first])
        }
        return try openExisting(path)
    }

    /// Runs `work` on keys, and converts its error to one about opening the store.
    private func key<Value>(_ work: @autoclosure () throws(StoreKeyError) -> Value) throws(StoreError) -> Value {
        do throws(StoreKeyError) {
            return try work()
        } catch {
            throw .key(error)
        }
    }

    private func openExisting(_ path: String) throws(StoreError) -> sending AccountStore {
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
                guard case .wrongKey(_, let expected, _) = error else { throw error }
                (wrongKey, missing) = (error, expected)
            }
        }
        if let wrongKey, !usesSecretService { throw wrongKey }
        throw .key(absence(of: missing))
    }

    /// The places to look for keys, in this order. The Secret Service comes last, because it may be locked.
    private var places: [() throws(StoreKeyError) -> [HeldKey]] {
        [source.credentials, source.files, secretServiceKeys]
    }

    /// The keys in the Secret Service. It is asked even if it is not configured, because a change of the key away from
    /// it may be unfinished. But only a configured one is waited for: a key that is found nowhere is missing, and not
    /// locked.
    private func secretServiceKeys() throws(StoreKeyError) -> [HeldKey] {
        do {
            return try secretService.keys()
        } catch {
            guard usesSecretService else { return [] }
            throw error
        }
    }

    /// The error for a key that is found nowhere. If a keyring is configured, it may come into it later.
    ///
    /// - Parameter identifier: the key's identifier; nil if it is unknown.
    private func absence(of identifier: String?) -> StoreKeyError {
        usesSecretService ? .secretServiceLacksKey(identifier: identifier) : .keyMissing(path: source.keyFilePath)
    }

    /// Where a daemon started now would find this key.
    ///
    /// - Throws: the error that it would fail with.
    package func locate(_ identifier: String) throws(StoreKeyError) -> StoreKeyPlace {
        for place in places {
            if let held = try place().first(where: { $0.key.identifier == identifier }) { return held.place }
        }
        throw absence(of: identifier)
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

    /// The key that should replace the key `identifier`. When it returns, the new key is stored safely.
    ///
    /// - Throws: `credentialHasNoSuccessor` or `successorNotInPlace` if its owner has to provide it first; the error of
    ///   storing a new one.
    package func next(after identifier: String) throws(StoreKeyError) -> HeldKey {
        let credentials = try source.credentials()
        if credentials.isEmpty {
            return usesSecretService
                ? try secretService.create() : try source.createNextFile(after: identifier)
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

    /// Destroys all keys of the store except this one, as far as we may destroy them. Nothing may be sealed with them
    /// any more. It may be repeated.
    ///
    /// - Parameter retiredPlace: where the replaced key was before the first call; nil if that is unknown.
    /// - Throws: `keyMissing` or `secretServiceLacksKey` if this key is found nowhere; then all others are kept.
    package func settle(on identifier: String, retiredFrom retiredPlace: StoreKeyPlace? = nil) throws(StoreKeyError) {
        let held = try source.credentials() + source.files()
        if !held.contains(where: { $0.key.identifier == identifier }) {
            let isKept = try secretService.keys().contains { $0.key.identifier == identifier }
            guard isKept else { throw absence(of: identifier) }
        }
        // An old key that is in none of these places can only be in the Secret Service, configured or not. The Secret
        // Service comes first: as long as the old key's file exists, it need not be asked.
        let isElsewhere =
            retiredPlace.map { $0 != .secretService } ?? held.contains { $0.key.identifier != identifier }
        let service = Result { () throws(StoreKeyError) in
            if asksSecretService || !isElsewhere { try secretService.removeOthers(identifier) }
        }
        try source.settleFiles(on: identifier)
        try service.get()
    }

    /// Where this key is. If it is not available here, it can only be in the Secret Service.
    package func place(of identifier: String) -> StoreKeyPlace {
        let held = ((try? source.credentials()) ?? []) + ((try? source.files()) ?? [])
        return held.first { $0.key.identifier == identifier }?.place ?? .secretService
    }
}

extension StoreKeyring {
    /// Checks what protects the store at `path`, which is sealed with the key `identifier`: the access to its folder and
    /// file, and the key. It blocks.
    ///
    /// Only what the next start of the daemon would fail on is a finding about the key. A locked keyring still has it.
    package func findings(about path: String, sealedWith identifier: String) -> [StoreFinding] {
        var findings = [PosixFile.parent(of: path), path].compactMap { path -> StoreFinding? in
            guard let status = (try? PosixFile.status(of: path)) ?? nil, status.mode & 0o077 != 0 else { return nil }
            return .tooOpen(path: path, mode: status.mode)
        }
        do throws(StoreKeyError) {
            _ = try locate(identifier)
        } catch {
            if !error.isPassing { findings.append(.key(error)) }
        }
        return findings
    }
}

/// The items of the Secret Service that belong to one store. Every call blocks until the service has answered.
package struct SecretServiceKeys: Sendable {
    /// Returns the contents of all items, and unlocks them first if no prompt is needed.
    ///
    /// - Throws: `secretServiceLocked`, `secretServiceUnavailable`, `secretServiceRefused`.
    package var load: @Sendable () throws(StoreKeyError) -> [Secret]
    /// Creates an item for this key.
    package var add: @Sendable (_ contents: Secret, _ identifier: String) throws(StoreKeyError) -> Void
    /// Removes all items except this key's.
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

    /// Creates a key and stores it in the Secret Service.
    func create() throws(StoreKeyError) -> HeldKey {
        let key = StoreKey.random()
        try add(key.digits, key.identifier)
        return HeldKey(key, in: .secretService)
    }
}
