internal import AccountStorage
internal import AuthRefreshInterface

/// What `authctl doctor` finds of the store's files.
enum StoreFileFinding {
    case hangs(limit: Duration)
    case trouble(StoreError)
    case fileGone
    case fileOpen(mode: UInt32)
    case folderOpen(mode: UInt32)
    case logGrown(bytes: Int64)
    case littleSpace(bytes: Int64)
    /// `free` is the space left in its file system; nil if that is not known.
    case well(bytes: Int64, log: Int64, free: Int64?)

    /// The finding, in the words of `authctl doctor`.
    ///
    /// - Parameter path: the store's.
    func finding(at path: String) -> Finding {
        switch self {
        case .hangs(let limit):
            .error(
                .store,
                "the store's file system has not answered within \(limit.words)",
                of: path,
                needs: .time,
                advice: "look at the file system: findmnt"
            )
        case .trouble(let error):
            Self.error(error.description, path, error.hint ?? "journalctl --user -u authrefreshd")
        case .fileGone:
            Self.error(
                "the file is gone: the daemon still has it open, but loses it when it stops",
                path,
                "before you restart it: authctl store backup FILE, then stop it, then authctl store restore FILE"
            )
        case .fileOpen(let mode):
            Self.error("other users can open it (mode 0\(String(mode, radix: 8)))", path, "chmod 600 '\(path)'")
        case .folderOpen(let mode):
            Self.error(
                "other users can write to its folder (mode 0\(String(mode, radix: 8)))",
                path,
                "chmod 700 its folder"
            )
        case .logGrown(let bytes):
            Self.warning(
                "its write-ahead log has grown to \(Self.size(bytes))",
                path,
                "systemctl --user restart authrefreshd"
            )
        case .littleSpace(let bytes):
            Self.warning(
                "its file system has only \(Self.size(bytes)) left",
                path,
                "free some space: the daemon cannot keep what the servers send on a full disk"
            )
        case .well(let bytes, let log, let free): Self.well(bytes, log, free, path)
        }
    }

    /// The daemon cannot read its own store, and so checks nothing else.
    static func unreadable(_ error: StoreError) -> Finding {
        .error(.store, error.description, needs: .repair, advice: error.hint ?? "authctl status")
    }

    private static func well(_ bytes: Int64, _ log: Int64, _ free: Int64?, _ path: String) -> Finding {
        let rest = free.map { ", \(size($0)) are free" } ?? ""
        return .ok(.store, "closed to other users; \(size(bytes)), log \(size(log))\(rest)", of: path)
    }

    private static func warning(_ text: String, _ path: String, _ advice: String) -> Finding {
        .warning(.store, text, of: path, needs: .repair, advice: advice)
    }

    private static func error(_ text: String, _ path: String, _ advice: String) -> Finding {
        .error(.store, text, of: path, needs: .repair, advice: advice)
    }

    /// `512 bytes`, `12 KiB`, `3 MiB` or `2 GiB`, never rounded up.
    private static func size(_ bytes: Int64) -> String {
        switch bytes {
        case ..<1024: "\(bytes) bytes"
        case ..<(1 << 20): "\(bytes >> 10) KiB"
        case ..<(10 << 30): "\(bytes >> 20) MiB"
        default: "\(bytes >> 30) GiB"
        }
    }
}

/// What `authctl doctor` finds of the key that the store is encrypted with.
enum KeyFinding {
    /// `file` is the key file's path.
    case found(StoreKeyPlace, file: String)
    case hangs(limit: Duration)
    /// The key may be available later.
    case unavailable(StoreKeyError)
    case gone(StoreKeyError)
    case rekeying

    /// The finding, in the words of `authctl doctor`.
    var finding: Finding {
        switch self {
        case .found(let place, let file): .ok(.key, "the store's key is " + Self.words(place, file: file))
        case .hangs(let limit):
            .warning(
                .key,
                "the place of the key has not answered within \(limit.words)",
                needs: .time,
                advice: "a daemon that starts now has to wait for it: look at the file system and the keyring"
            )
        case .unavailable(let error): .warning(.key, error.description, needs: .time, advice: error.hintWhileOpen)
        case .gone(let error):
            .error(
                .key,
                "\(error.description): this daemon still works, but could not open the store after a restart",
                needs: .repair,
                advice: error.hintWhileOpen
            )
        case .rekeying: .note(.key, "the store is being encrypted with a new key: authctl store rekey")
        }
    }

    private static func words(_ place: StoreKeyPlace, file: String) -> String {
        switch place {
        case .credential: "the systemd credential '\(StoreKeySource.name)'"
        case .nextCredential: "the systemd credential '\(StoreKeySource.nextName)'"
        case .secretService: "in the Secret Service"
        case .file: "in '\(file)', closed to other users"
        case .nextFile: "in '\(file).next', closed to other users"
        }
    }
}
