import Glibc

/// Why there is no key to open the store with.
package enum StoreKeyError: Error, Hashable, Sendable {
    /// There is a store, but its key is gone; a new one would not open it.
    case keyMissing(path: String)
    /// `code` is an `errno` value.
    case unreadable(path: String, code: Int32)
    /// Others can read the key; `mode` holds the permission bits.
    case tooOpen(path: String, mode: UInt32)
    /// The key file belongs to another user.
    case notOurs(path: String, owner: UInt32)
    /// The key file is a symbolic link that another user made.
    case foreignSymbolicLink(path: String, owner: UInt32)
    /// It is a folder, a pipe or a device.
    case notAFile(path: String)
    /// The contents are not a key; `count` is their number of bytes, at most `StoreKeySource.longestFile`.
    case malformed(path: String, count: Int)
    /// A new key could not be stored; `code` is an `errno` value.
    case cannotCreate(path: String, code: Int32)
    /// A key that is used no more could not be destroyed; `code` is an `errno` value.
    case cannotRemove(path: String, code: Int32)
    /// The store is sealed with a systemd credential, and no credential is there to follow it.
    case credentialHasNoSuccessor
    /// The store is sealed with the credential that followed, and that is not the first one yet.
    case successorNotInPlace
    /// The new key, named by its identifier, is in no place any more, and so the old one is kept.
    case successorMissing(identifier: String)
    /// The Secret Service does not take or give the key; `reason` is its own word for it.
    case secretServiceRefused(reason: String)
    /// The Secret Service has the key, and is locked.
    case secretServiceLocked
    /// Nobody answers for the Secret Service now; `reason` says why.
    case secretServiceUnavailable(reason: String)
    /// There is a store, and its key, named by its identifier if that is known, is neither in the Secret Service nor elsewhere.
    case secretServiceLacksKey(identifier: String?)
}

extension StoreKeyError {
    /// Whether it passes by itself, or by somebody logging in.
    package var isPassing: Bool {
        switch self {
        case .secretServiceLocked, .secretServiceUnavailable: true
        case .keyMissing, .unreadable, .tooOpen, .notOurs, .foreignSymbolicLink, .notAFile, .malformed, .cannotCreate,
            .cannotRemove, .credentialHasNoSuccessor, .successorNotInPlace, .successorMissing, .secretServiceRefused,
            .secretServiceLacksKey:
            false
        }
    }

    /// Whether the daemon waits for the key: whatever a keyring lacks may come while the daemon runs, what is wrong with a file or
    /// a credential is put right and the daemon started again (see the decision "A daemon waits for a keyring, and ends for a file").
    package var isAwaited: Bool {
        switch self {
        case .secretServiceLocked, .secretServiceUnavailable, .secretServiceRefused, .secretServiceLacksKey: true
        case .keyMissing, .unreadable, .tooOpen, .notOurs, .foreignSymbolicLink, .notAFile, .malformed, .cannotCreate,
            .cannotRemove, .credentialHasNoSuccessor, .successorNotInPlace, .successorMissing:
            false
        }
    }
}

extension StoreKeyError: CustomStringConvertible {
    /// What failed, on what, and why: lower case, no full stop.
    package var description: String {
        switch self {
        case .keyMissing(let path): "the store's key '\(path)' is missing"
        case .unreadable(let path, let code): "the store's key '\(path)' cannot be read: \(PosixError(code: code))"
        case .tooOpen(let path, let mode):
            "the store's key '\(path)' can be read by other users (mode 0\(String(mode, radix: 8)))"
        case .notOurs(let path, let owner): "the store's key '\(path)' belongs to another user (uid \(owner))"
        case .foreignSymbolicLink(let path, let owner):
            "the store's key '\(path)' is a symbolic link of another user (uid \(owner))"
        case .notAFile(let path): "the store's key '\(path)' is not a file"
        case .malformed(let path, let count): "the store's key '\(path)' holds \(count) bytes that are not a key"
        case .cannotCreate(let path, let code): "the store's key '\(path)' cannot be created: \(PosixError(code: code))"
        case .cannotRemove(let path, let code):
            "the old key '\(path)' cannot be removed: \(PosixError(code: code))"
        case .credentialHasNoSuccessor:
            "the store's key is the systemd credential '\(StoreKeySource.name)', which only its owner can replace"
        case .successorNotInPlace:
            "the store is sealed with the systemd credential '\(StoreKeySource.nextName)' already"
        case .successorMissing(let identifier):
            "the new key \(identifier) is gone from where it was kept, the old one is kept"
        case .secretServiceRefused(let reason): "the Secret Service does not keep the store's key: \(reason)"
        case .secretServiceLocked: "the store's key is in the Secret Service, which is locked"
        case .secretServiceUnavailable(let reason):
            "the store's key is in the Secret Service, which cannot be asked: \(reason)"
        case .secretServiceLacksKey(let identifier):
            "the store's key\(identifier.map { " \($0)" } ?? "") is neither in the Secret Service nor anywhere else"
        }
    }

    /// The next step to take.
    package var hint: String {
        switch self {
        case .keyMissing(let path):
            "put the key back at '\(path)', or set store_key if the Secret Service has it; if it is lost, move the store away and"
                + " import the grants again"
        case .unreadable(let path, _): "make '\(path)' readable for this user"
        case .tooOpen(let path, _): "chmod 600 '\(path)'; if others may have read it, import the grants again"
        case .notOurs(let path, _), .foreignSymbolicLink(let path, _):
            "replace '\(path)' by a file of this user, mode 0600"
        case .notAFile(let path): "put a file with the key at '\(path)'"
        case .malformed: "a key is 32 bytes, or their 64 hexadecimal digits, or their base64"
        case .cannotCreate(let path, EEXIST): "look at what '\(path)' is, and move it away"
        case .cannotCreate(let path, _), .cannotRemove(let path, _):
            "make the folder of '\(path)' writable for this user"
        case .credentialHasNoSuccessor:
            "pass the new key as the credential '\(StoreKeySource.nextName)' too (LoadCredential= in a drop-in), restart the"
                + " daemon, and repeat this command"
        case .successorNotInPlace:
            "first make that key the credential '\(StoreKeySource.name)', take '\(StoreKeySource.nextName)' away, and restart"
                + " the daemon"
        case .successorMissing: "leave the daemon running, and change the key again: authctl store rekey"
        case .secretServiceRefused: "look at the keyring, or take store_key out of the configuration"
        case .secretServiceLocked:
            "unlock the keyring: log in to the desktop, or open its passwords program; the daemon goes on by itself"
        case .secretServiceUnavailable:
            "start the keyring (gnome-keyring, KeePassXC, KWallet) on the session bus; the daemon goes on by itself"
        case .secretServiceLacksKey:
            "unlock the keyring that has it, or bring it back; the daemon goes on by itself. If the key is lost, move the store"
                + " away and import the grants again"
        }
    }

    /// The next step to take while a daemon has the store open, and this is in the way of the next one.
    package var hintWhileOpen: String {
        switch self {
        case .keyMissing, .secretServiceLacksKey:
            "put the key back, or have a new one made while this daemon runs: authctl store rekey"
        case .unreadable, .tooOpen, .notOurs, .foreignSymbolicLink, .notAFile, .malformed, .cannotCreate,
            .cannotRemove, .credentialHasNoSuccessor, .successorNotInPlace, .successorMissing, .secretServiceRefused,
            .secretServiceLocked, .secretServiceUnavailable:
            hint
        }
    }
}
