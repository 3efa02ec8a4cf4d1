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
