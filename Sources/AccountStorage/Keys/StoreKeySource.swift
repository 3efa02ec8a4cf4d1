internal import Basics

/// Where a store key is kept.
package enum StoreKeyPlace: String, Hashable, Sendable {
    /// The systemd credential `store-key`.
    case credential
    /// The systemd credential `store-key.next`, to which the next change of the key moves.
    case nextCredential = "next-credential"
    /// An item of the Secret Service.
    case secretService = "secret-service"
    /// The file `store-key` beside the store.
    case file
    /// The file `store-key.next` beside the store, while the key is being changed.
    case nextFile = "next-file"
}

/// A key and its place.
package struct HeldKey: Equatable, Sendable {
    package var key: StoreKey
    package var place: StoreKeyPlace

    package init(_ key: StoreKey, in place: StoreKeyPlace) {
        self.key = key
        self.place = place
    }
}

/// The places that can be read without asking anybody: systemd credentials, and files beside the store.
package struct StoreKeySource: Sendable {
    /// The name of the credential and of the key file.
    package static let name = "store-key"
    /// The name of the next key, as a credential or a file.
    package static let nextName = "store-key.next"
    /// The most bytes that are read of a key file. 64 digits and some white space fit.
    package static let longestFile = 256

    /// `$CREDENTIALS_DIRECTORY`; nil if systemd passed none.
    package let credentialsDirectory: String?
    /// The store's folder.
    package let stateDirectory: String

    package init(credentialsDirectory: String?, stateDirectory: String) {
        self.credentialsDirectory = credentialsDirectory
        self.stateDirectory = stateDirectory
    }

    /// The path of the key file.
    package var keyFilePath: String { file.path }

    private var file: StoreKeyFile { .own(stateDirectory + "/" + StoreKeySource.name) }
    private var nextFile: StoreKeyFile { .own(stateDirectory + "/" + StoreKeySource.nextName) }

    /// The keys in systemd credentials.
    ///
    /// - Throws: why an existing credential may not be used.
    package func credentials() throws(StoreKeyError) -> [HeldKey] {
        guard let folder = credentialsDirectory else { return [] }
        let key = try StoreKeyFile.credential(folder + "/" + StoreKeySource.name).read()
        let next = try StoreKeyFile.credential(folder + "/" + StoreKeySource.nextName).read()
        return [key.map { HeldKey($0, in: .credential) }, next.map { HeldKey($0, in: .nextCredential) }]
            .compactMap { $0 }
    }

    /// The keys in files beside the store.
    ///
    /// - Throws: why an existing file may not be used.
    package func files() throws(StoreKeyError) -> [HeldKey] {
        [
            try file.read().map { HeldKey($0, in: .file) },
            try nextFile.read().map { HeldKey($0, in: .nextFile) },
        ].compactMap { $0 }
    }

    /// Whether a file at `path` was made for some key. A first start that ended early leaves an empty file.
    func holdsStore(at path: String) throws(StoreKeyError) -> Bool {
        do {
            return (try PosixFile.status(of: path)?.size ?? 0) > 0
        } catch {
            throw .unreadable(path: path, code: error.code)
        }
    }

    /// Creates a key and the key file at the first start, completely or not at all.
    package func createFile() throws(StoreKeyError) -> HeldKey {
        let key = StoreKey.random()
        try file.create(key)
        return HeldKey(key, in: .file)
    }

    /// Creates the next key and its file, completely or not at all.
    ///
    /// - Parameter identifier: the key in use. If the last change left it here, it first moves to its own place.
    package func createNextFile(after identifier: String) throws(StoreKeyError) -> HeldKey {
        try moveIntoPlace(identifier)
        let key = StoreKey.random()
        try nextFile.replace(with: key, sparing: [identifier])
        return HeldKey(key, in: .nextFile)
    }

    /// Destroys all key files except the one with this key, which becomes the key file.
    ///
    /// Call it when nothing is sealed with any other key. It may be repeated.
    package func settleFiles(on identifier: String) throws(StoreKeyError) {
        try moveIntoPlace(identifier)
        if try file.read()?.identifier != identifier { try file.destroy(sparing: [identifier]) }
        try nextFile.destroy(sparing: [identifier])
    }

    /// Makes the key file of this key, which is the only one in use, from the file of the next key.
    private func moveIntoPlace(_ identifier: String) throws(StoreKeyError) {
        guard let next = try nextFile.read(), next.identifier == identifier else { return }
        try file.replace(with: next, sparing: [identifier])
        // The key is in both files now, and this one is the copy.
        try nextFile.destroy(sparing: [])
    }
}
