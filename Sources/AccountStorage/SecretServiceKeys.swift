package import RefreshCore

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
            var bytes = unsafe contents.withBytes { unsafe Array($0) }
            defer { bytes.erase() }
            return StoreKey(fileContents: bytes).map { HeldKey($0, in: .secretService) }
        }
    }

    /// Makes a key, and keeps it in the Secret Service.
    func create() throws(StoreKeyError) -> HeldKey {
        let key = StoreKey.random()
        var contents = key.fileContents
        defer { contents.erase() }
        // Without the newline of a file: people see it when they look at the item.
        try add(Secret(contents.dropLast()), key.identifier)
        return HeldKey(key, in: .secretService)
    }
}
