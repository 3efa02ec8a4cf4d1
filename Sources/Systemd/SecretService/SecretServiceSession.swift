package import RefreshCore

/// A session with the Secret Service (org.freedesktop.secrets) on the session bus. Its calls block.
///
/// Secrets are sent in the session's `plain` form. The bus is a kernel socket between processes of this user, each of
/// which may ask the service for the same secrets (see the decision "The Secret Service is asked in the clear").
///
/// It never shows a prompt, because a daemon cannot know whether anybody is there to answer it.
package final class SecretServiceSession {
    private static let service = "/org/freedesktop/secrets"

    private let bus: SecretServiceBus
    private let session: String

    /// Opens a session.
    ///
    /// - Parameter address: the address of the session bus.
    /// - Throws: `unavailable`, `refused`.
    package init(address: String) throws(SecretServiceError) {
        bus = try SecretServiceBus(address: address)
        let reply = try bus.call(Self.service, "Service", "OpenSession") { call in
            call.append("plain")
            call.within(.variant, "s") { call.append("") }
        }
        reply.enter(.variant, "s") { _ = reply.text() }
        guard let path = reply.path() else { throw .unreadable }
        session = path
    }

    /// The secrets of the items with these attributes.
    ///
    /// - Throws: `locked` if one of them is locked, or if there is none and the default collection, which may contain
    ///   them, is locked; `unavailable` if there is none and no default collection exists yet.
    package func secrets(_ attributes: [String: String]) throws(SecretServiceError) -> [Secret] {
        let items = try items(attributes)
        guard !items.isEmpty else {
            _ = try unlockedDefaultCollection()
            return []
        }
        let reply = try bus.call(Self.service, "Service", "GetSecrets") { call in
            call.append(paths: items)
            call.append(path: session)
        }
        var secrets: [Secret] = []
        func readEntry() {
            _ = reply.path()
            reply.enter(.structure, "oayays") {
                _ = (reply.path(), reply.bytes())
                if let secret = reply.bytes() { secrets.append(secret) }
                _ = reply.text()
            }
        }
        reply.enter(.array, "{o(oayays)}") { while reply.enter(.entry, "o(oayays)", readEntry) {} }
        return secrets
    }

    /// Creates an item in the default collection.
    ///
    /// - Parameter label: the name that people see in their password manager.
    /// - Throws: `locked`; `unavailable`, also if there is no default collection; `refused`.
    package func create(_ secret: Secret, label: String, attributes: [String: String]) throws(SecretServiceError) {
        let collection = try unlockedDefaultCollection()
        let reply = try bus.call(collection, "Collection", "CreateItem") { call in
            call.within(.array, "{sv}") {
                call.within(.entry, "sv") {
                    call.append("org.freedesktop.Secret.Item.Label")
                    call.within(.variant, "s") { call.append(label) }
                }
                call.within(.entry, "sv") {
                    call.append("org.freedesktop.Secret.Item.Attributes")
                    call.within(.variant, "a{ss}") { call.append(attributes) }
                }
            }
            call.within(.structure, "oayays") {
                call.append(path: session)
                call.append(bytes: Secret([]))
                call.append(bytes: secret)
                call.append("text/plain")
            }
            call.append(false)
        }
        guard let item = reply.path(), let prompt = reply.path() else { throw .unreadable }
        if item == "/" { try decline(prompt) }
    }

    /// Deletes the items with these attributes, except those that also have the attributes `spared`.
    package func delete(
        _ attributes: [String: String],
        sparing spared: [String: String]
    ) throws(SecretServiceError) {
        let kept = Set(try items(attributes.merging(spared) { $1 }))
        for item in try items(attributes) where !kept.contains(item) {
            let reply = try bus.call(item, "Item", "Delete") { _ in }
            guard let prompt = reply.path() else { throw .unreadable }
            if prompt != "/" { try decline(prompt) }
        }
    }

    /// The items with these attributes, all of them unlocked.
    private func items(_ attributes: [String: String]) throws(SecretServiceError) -> [String] {
        let reply = try bus.call(Self.service, "Service", "SearchItems") { $0.append(attributes) }
        guard let unlocked = reply.paths(), let locked = reply.paths() else { throw .unreadable }
        if !locked.isEmpty { try unlock(locked) }
        return unlocked + locked
    }

    private func unlockedDefaultCollection() throws(SecretServiceError) -> String {
        let reply = try bus.call(Self.service, "Service", "ReadAlias") { $0.append("default") }
        guard let collection = reply.path() else { throw .unreadable }
        guard collection != "/" else { throw .unavailable(reason: "there is no default keyring") }
        try unlock([collection])
        return collection
    }

    /// Unlocks objects, as far as that needs no prompt.
    private func unlock(_ objects: [String]) throws(SecretServiceError) {
        let reply = try bus.call(Self.service, "Service", "Unlock") { $0.append(paths: objects) }
        guard let unlocked = reply.paths(), let prompt = reply.path() else { throw .unreadable }
        if prompt != "/" { try decline(prompt) }
        guard Set(objects).isSubset(of: unlocked) else { throw .locked }
    }

    /// Dismisses a prompt of the service, and throws `locked`.
    private func decline(_ prompt: String) throws(SecretServiceError) -> Never {
        // The error is `locked`, even if dismissing the prompt fails.
        _ = try? bus.call(prompt, "Prompt", "Dismiss") { _ in }
        throw .locked
    }
}
