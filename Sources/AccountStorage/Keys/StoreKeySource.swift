/// Where a key of the store is kept.
package enum StoreKeyPlace: String, Hashable, Sendable {
    /// The systemd credential `store-key`.
    case credential
    /// The systemd credential `store-key.next`: what the store is to be sealed with from the next change of the key on.
    case nextCredential = "next-credential"
    /// An item of the Secret Service.
    case secretService = "secret-service"
    /// The file `store-key` beside the store.
    case file
    /// The file `store-key.next` beside it, while the key is being changed.
    case nextFile = "next-file"
}

/// A key, and where it is kept.
package struct HeldKey: Equatable, Sendable {
    package var key: StoreKey
    package var place: StoreKeyPlace

    package init(_ key: StoreKey, in place: StoreKeyPlace) {
        self.key = key
        self.place = place
    }
}

/// The places of the store's key that need nobody to be asked: systemd credentials, and files beside the store.
package struct StoreKeySource: Sendable {
    /// The name of the credential, and of the key file.
    package static let name = "store-key"
    /// The name of the key that follows, as a credential or a file.
    package static let nextName = "store-key.next"
    /// What is read of a key file at most; 64 digits and some white space fit well.
    package static let longestFile = 256

    /// `$CREDENTIALS_DIRECTORY`; nil if systemd passed none.
    package let credentialsDirectory: String?
    /// The folder that the store is in.
    package let stateDirectory: String

    package init(credentialsDirectory: String?, stateDirectory: String) {
        self.credentialsDirectory = credentialsDirectory
        self.stateDirectory = stateDirectory
    }

    /// Where the key file is.
    package var keyFilePath: String { file.path }

    private var file: StoreKeyFile { .own(stateDirectory + "/" + StoreKeySource.name) }
    private var nextFile: StoreKeyFile { .own(stateDirectory + "/" + StoreKeySource.nextName) }

    /// The keys that systemd passed.
    ///
    /// - Throws: why one that is there may not be used.
    package func credentials() throws(StoreKeyError) -> [HeldKey] {
        guard let folder = credentialsDirectory else { return [] }
        let key = try StoreKeyFile.credential(folder + "/" + StoreKeySource.name).read()
        let next = try StoreKeyFile.credential(folder + "/" + StoreKeySource.nextName).read()
        return [key.map { HeldKey($0, in: .credential) }, next.map { HeldKey($0, in: .nextCredential) }]
            .compactMap { $0 }
    }

    /// The keys beside the store.
    ///
    /// - Throws: why one that is there may not be used.
    package func files() throws(StoreKeyError) -> [HeldKey] {
        [
            try file.read().map { HeldKey($0, in: .file) },
            try nextFile.read().map { HeldKey($0, in: .nextFile) },
        ].compactMap { $0 }
    }

    /// Whether there is something at `path` that a key was made for; an empty file is what a first start leaves that ended early.
    func holdsStore(at path: String) throws(StoreKeyError) -> Bool {
        do {
            return (try PosixFile.status(of: path)?.size ?? 0) > 0
        } catch {
            throw .unreadable(path: path, code: error.code)
        }
    }

    /// Makes a key and stores it as the key file, complete or not at all: the first start.
    package func createFile() throws(StoreKeyError) -> HeldKey {
        let key = StoreKey.random()
        try file.create(key)
        return HeldKey(key, in: .file)
    }

    /// Makes a key to follow the present one, and stores it beside it, complete or not at all.
    package func createNextFile() throws(StoreKeyError) -> HeldKey {
        let key = StoreKey.random()
        try nextFile.replace(with: key)
        return HeldKey(key, in: .nextFile)
    }

    /// Destroys the key files but for the one with the key of this identifier, which becomes the key file.
    ///
    /// To be called when nothing is sealed with any other key; may be repeated.
    package func settleFiles(on identifier: String) throws(StoreKeyError) {
        if let next = try nextFile.read(), next.identifier == identifier {
            try file.replace(with: next)
        } else if try file.read()?.identifier != identifier {
            try file.destroy()
        }
        try nextFile.destroy()
    }
}
