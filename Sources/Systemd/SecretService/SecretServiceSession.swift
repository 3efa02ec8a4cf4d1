internal import CSystemd
internal import Dispatch
internal import Glibc
package import RefreshCore

/// A session with the Secret Service (org.freedesktop.secrets) on the session bus. Its calls block.
///
/// Secrets are sent in the session's `plain` form. The bus is a kernel socket between processes of this user, each of
/// which may ask the service for the same secrets (see the decision "The Secret Service is asked in the clear").
///
/// It never shows a prompt, because a daemon cannot know whether anybody is there to answer it.
package final class SecretServiceSession {
    private static let service = "/org/freedesktop/secrets"

    /// The time limit in µs, for connecting and for each call. It is generous because the service may have to be
    /// started first.
    private static let patience: UInt64 = 10_000_000

    private let handle: BusHandle
    /// The session's path.
    private var session = "/"

    /// Opens a session.
    ///
    /// - Parameter address: the address of the session bus.
    /// - Throws: `unavailable`, `refused`.
    package init(address: String) throws(SecretServiceError) {
        final class Nothing {}
        do {
            handle = try BusHandle(address: address, context: Nothing())
        } catch {
            throw SecretServiceError(error)
        }
        try waitUntilReady()
        let reply = try call(Self.service, "Service", "OpenSession") { message in
            message.append("plain")
            message.within(.variant, "s") { message.append("") }
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
        let reply = try call(Self.service, "Service", "GetSecrets") { message in
            message.append(paths: items)
            message.append(path: session)
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
        let reply = try call(collection, "Collection", "CreateItem") { message in
            message.within(.array, "{sv}") {
                message.within(.entry, "sv") {
                    message.append("org.freedesktop.Secret.Item.Label")
                    message.within(.variant, "s") { message.append(label) }
                }
                message.within(.entry, "sv") {
                    message.append("org.freedesktop.Secret.Item.Attributes")
                    message.within(.variant, "a{ss}") { message.append(attributes) }
                }
            }
            message.within(.structure, "oayays") {
                message.append(path: session)
                message.append(bytes: Secret([]))
                message.append(bytes: secret)
                message.append("text/plain")
            }
            message.append(false)
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
            let reply = try call(item, "Item", "Delete") { _ in }
            guard let prompt = reply.path() else { throw .unreadable }
            if prompt != "/" { try decline(prompt) }
        }
    }

    /// The items with these attributes, all of them unlocked.
    private func items(_ attributes: [String: String]) throws(SecretServiceError) -> [String] {
        let reply = try call(Self.service, "Service", "SearchItems") { $0.append(attributes) }
        guard let unlocked = reply.paths(), let locked = reply.paths() else { throw .unreadable }
        if !locked.isEmpty { try unlock(locked) }
        return unlocked + locked
    }

    private func unlockedDefaultCollection() throws(SecretServiceError) -> String {
        let reply = try call(Self.service, "Service", "ReadAlias") { $0.append("default") }
        guard let collection = reply.path() else { throw .unreadable }
        guard collection != "/" else { throw .unavailable(reason: "there is no default keyring") }
        try unlock([collection])
        return collection
    }

    /// Unlocks objects, as far as that needs no prompt.
    private func unlock(_ objects: [String]) throws(SecretServiceError) {
        let reply = try call(Self.service, "Service", "Unlock") { $0.append(paths: objects) }
        guard let unlocked = reply.paths(), let prompt = reply.path() else { throw .unreadable }
        if prompt != "/" { try decline(prompt) }
        guard Set(objects).isSubset(of: unlocked) else { throw .locked }
    }

    /// Dismisses a prompt of the service, and throws `locked`.
    private func decline(_ prompt: String) throws(SecretServiceError) -> Never {
        // The error is `locked`, even if dismissing the prompt fails.
        _ = try? call(prompt, "Prompt", "Dismiss") { _ in }
        throw .locked
    }

    // MARK: The bus

    /// sd_bus_call(3) would itself wait for the connection's set-up, for more than a minute and a half, whatever time
    /// limit it gets.
    private func waitUntilReady() throws(SecretServiceError) {
        let deadline = DispatchTime.now().uptimeNanoseconds / 1_000 + Self.patience
        while true {
            let ready = unsafe sd_bus_is_ready(handle.bus)
            guard ready == 0 else { return try check(ready) }
            let progress = unsafe sd_bus_process(handle.bus, nil)
            try check(progress)
            guard progress == 0 else { continue }
            let now = DispatchTime.now().uptimeNanoseconds / 1_000
            guard now < deadline else { throw .noAnswer(errno: ETIMEDOUT) }
            try check(unsafe sd_bus_wait(handle.bus, deadline - now))
        }
    }

    private func check(_ result: Int32) throws(SecretServiceError) {
        guard result < 0, result != -EINTR else { return }
        throw .busUnusable(errno: -result)
    }

    /// Calls a method of `org.freedesktop.Secret.INTERFACE`. `write` writes its arguments.
    private func call(
        _ path: String,
        _ interface: String,
        _ method: String,
        _ write: (BusMessage) -> Void
    ) throws(SecretServiceError) -> BusMessage {
        var message: OpaquePointer?
        let made = unsafe sd_bus_message_new_method_call(
            handle.bus,
            &message,
            "org.freedesktop.secrets",
            path,
            "org.freedesktop.Secret.\(interface)",
            method
        )
        guard made >= 0, let message = unsafe message else { throw .noAnswer(errno: -made) }
        let question = unsafe BusMessage(message)
        write(question)
        var failure = unsafe sd_bus_error()
        defer { unsafe sd_bus_error_free(&failure) }
        var answer: OpaquePointer?
        let result = unsafe sd_bus_call(handle.bus, question.message, Self.patience, &failure, &answer)
        guard result >= 0, let answer = unsafe answer else {
            throw SecretServiceError(
                errno: -result,
                name: unsafe failure.name.map { unsafe String(cString: $0) },
                message: unsafe failure.message.map { unsafe String(cString: $0) }
            )
        }
        return unsafe BusMessage(answer)
    }
}

extension SecretServiceError {
    /// Why the bus cannot be connected.
    init(_ error: SystemdError) {
        self = error.errno.map { .busUnusable(errno: $0) } ?? .noBus
    }
}
