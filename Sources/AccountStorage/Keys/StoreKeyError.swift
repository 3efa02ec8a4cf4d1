/// Why no key is available to open the store.
package enum StoreKeyError: Error, Hashable, Sendable {
    /// A store exists, but its key is missing. A new key would not open it.
    case keyMissing(path: String)
    /// The key cannot be read; `code` is an `errno` value.
    case unreadable(path: String, code: Int32)
    /// Others can read the key; `mode` holds the permission bits.
    case tooOpen(path: String, mode: UInt32)
    /// The key file belongs to another user.
    case notOurs(path: String, owner: UInt32)
    /// The key file is a symbolic link that another user made.
    case foreignSymbolicLink(path: String, owner: UInt32)
    /// The path is a folder, a pipe or a device.
    case notAFile(path: String)
    /// The contents are not a key; `count` is their number of bytes, at most `StoreKeySource.longestFile`.
    case malformed(path: String, count: Int)
    /// A new key could not be stored; `code` is an `errno` value.
    case cannotCreate(path: String, code: Int32)
    /// A key that is no longer used could not be destroyed; `code` is an `errno` value.
    case cannotRemove(path: String, code: Int32)
    /// The store is encrypted with a systemd credential, and there is no second credential to change to.
    case credentialHasNoSuccessor
    /// The store is encrypted with the second credential, and that is not the first one yet.
    case successorNotInPlace
    /// The place holds a key in use, so it is not written.
    case inUse(path: String, identifier: String)
    /// The Secret Service refuses to store or return the key; `reason` is its own error.
    case secretServiceRefused(reason: String)
    /// The Secret Service has the key but is locked.
    case secretServiceLocked
    /// The Secret Service does not answer; `reason` says why.
    case secretServiceUnavailable(reason: String)
    /// A store exists, and its key is neither in the Secret Service nor elsewhere. `identifier` names the key, if it is
    /// known.
    case secretServiceLacksKey(identifier: String?)
}
