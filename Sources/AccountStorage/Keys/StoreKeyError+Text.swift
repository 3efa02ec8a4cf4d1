package import Basics
import Glibc

extension StoreKeyError {
    /// Whether the problem passes by itself, or when somebody logs in.
    package var isPassing: Bool {
        switch self {
        case .secretServiceLocked, .secretServiceUnavailable: true
        case .keyMissing, .unreadable, .tooOpen, .notOurs, .foreignSymbolicLink, .notAFile, .malformed, .cannotCreate,
            .cannotRemove, .credentialHasNoSuccessor, .successorNotInPlace, .inUse, .secretServiceRefused,
            .secretServiceLacksKey:
            false
        }
    }

    /// Whether the daemon waits for the key. A keyring may be unlocked while the daemon runs. A bad file or credential
    /// has to be corrected and the daemon restarted (see the decision "A daemon waits for a keyring, and ends for a
    /// file").
    package var isAwaited: Bool {
        switch self {
        case .secretServiceLocked, .secretServiceUnavailable, .secretServiceRefused, .secretServiceLacksKey: true
        case .keyMissing, .unreadable, .tooOpen, .notOurs, .foreignSymbolicLink, .notAFile, .malformed, .cannotCreate,
            .cannotRemove, .credentialHasNoSuccessor, .successorNotInPlace, .inUse:
            false
        }
    }
}

extension StoreKeyError: CustomStringConvertible {
    /// What failed, on what, and why: lower case, no full stop.
    package var description: String {
        switch self {
        case .keyMissing(let path): "the store's key '\(path)' is missing"
        case .unreadable(let path, let code):
            "the store's key '\(path)' cannot be read: \(FileError.failed(errno: code))"
        case .tooOpen(let path, let mode):
            "the store's key '\(path)' can be read by other users (mode 0\(String(mode, radix: 8)))"
        case .notOurs(let path, let owner): "the store's key '\(path)' belongs to another user (uid \(owner))"
        case .foreignSymbolicLink(let path, let owner):
            "the store's key '\(path)' is a symbolic link of another user (uid \(owner))"
        case .notAFile(let path): "the store's key '\(path)' is not a file"
        case .malformed(let path, let count): "the store's key '\(path)' has \(count) bytes, and is not a key"
        case .cannotCreate(let path, let code):
            "the store's key '\(path)' cannot be created: \(FileError.failed(errno: code))"
        case .cannotRemove(let path, let code):
            "the old key '\(path)' cannot be removed: \(FileError.failed(errno: code))"
        case .credentialHasNoSuccessor:
            "the store's key is the systemd credential '\(StoreKeySource.name)', which only its owner can replace"
        case .successorNotInPlace:
            "the store is encrypted with the systemd credential '\(StoreKeySource.nextName)' already"
        case .inUse(let path, let identifier):
            "'\(path)' has the key \(identifier), which is in use, so nothing else is written there"
        case .secretServiceRefused(let reason): "the Secret Service does not keep the store's key: \(reason)"
        case .secretServiceLocked: "the store's key is in the Secret Service, which is locked"
        case .secretServiceUnavailable(let reason):
            "the store's key is in the Secret Service, which cannot be asked: \(reason)"
        case .secretServiceLacksKey(let identifier):
            "the store's key\(identifier.map { " \($0)" } ?? "") is neither in the Secret Service nor anywhere else"
        }
    }

    /// The next step for the user.
    package var hint: Hint {
        switch self {
        case .keyMissing(let path):
            "put the key back at '\(path)', or set store_key if the Secret Service has it, and start the daemon again; if it is"
                + " lost, move the store away and import the grants again"
        case .unreadable(let path, _): "make '\(path)' readable for this user"
        case .tooOpen(let path, _):
            "\(Command(program: "chmod", "600", path: path)); if others may have read it, import the grants again"
        case .notOurs(let path, _), .foreignSymbolicLink(let path, _):
            "replace '\(path)' by a file of this user, mode 0600"
        case .notAFile(let path): "put a file with the key at '\(path)'"
        case .malformed: "a key is 32 bytes, or their 64 hexadecimal digits, or their base64"
        case .cannotCreate(let path, EEXIST): "look at what '\(path)' is, and move it away"
        case .cannotCreate(_, ENOSPC), .cannotCreate(_, EDQUOT): "free some space, and try again"
        case .cannotCreate(_, EFBIG):
            "allow larger files (LimitFSIZE= of the service, ulimit -f in a shell), and try again"
        case .cannotCreate(let path, _), .cannotRemove(let path, _):
            "make '\(path)' and its folder writable for this user; lsattr and findmnt show what forbids it"
        case .credentialHasNoSuccessor:
            "pass the new key as the credential '\(StoreKeySource.nextName)' too (LoadCredential= in a drop-in), restart the"
                + " daemon, and repeat this command"
        case .successorNotInPlace:
            "first make that key the credential '\(StoreKeySource.name)', take '\(StoreKeySource.nextName)' away, and restart"
                + " the daemon"
        case .inUse(let path, _): "leave '\(path)' as it is, and restart the daemon: it puts the key into its place"
        case .secretServiceRefused: "look at the keyring, or take store_key out of the configuration"
        case .secretServiceLocked:
            "unlock the keyring: log in to the desktop, or open its passwords program; the daemon then continues by itself"
        case .secretServiceUnavailable:
            "start the keyring (gnome-keyring, KeePassXC, KWallet) on the session bus; the daemon then continues by itself"
        case .secretServiceLacksKey:
            "unlock the keyring that has it, or bring it back; the daemon then continues by itself. If the key is lost, move the store"
                + " away and import the grants again"
        }
    }

    /// The next step for the user while a daemon has the store open, and this would prevent the next start.
    package var hintWhileOpen: Hint {
        switch self {
        case .keyMissing, .secretServiceLacksKey:
            "put the key back, or have a new one made while this daemon runs: \(Command("store", "rekey"))"
        case .unreadable, .tooOpen, .notOurs, .foreignSymbolicLink, .notAFile, .malformed, .cannotCreate,
            .cannotRemove, .credentialHasNoSuccessor, .successorNotInPlace, .inUse, .secretServiceRefused,
            .secretServiceLocked, .secretServiceUnavailable:
            hint
        }
    }
}
