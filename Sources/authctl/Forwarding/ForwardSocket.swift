internal import Basics
internal import Glibc
internal import Varlink

/// The forwarded socket: for ssh in a folder of its own that no other user can enter, or where a person wants it.
///
/// The folder is never on a disk, and disappears with the login session at the latest.
final class ForwardSocket {
    private static let prefix = "authctl-forward-"
    private static let name = "socket"
    /// How many programs of the other machine may wait for a connection.
    private static let backlog: Int32 = 64

    private let socket: ServerSocket
    /// The folder that disappears with the socket; nil if a person has named the path.
    private let folder: String?
    let path: String

    var descriptor: Int32 { socket.descriptor }

    /// Creates the socket in a folder of its own, which stays locked while this program runs.
    ///
    /// - Parameter parents: the first usable one is used.
    /// - Throws: `cannotCreateFile`.
    init(in parents: [String]) throws(Report) {
        var failure = Report.cannotCreateFile(path: Self.prefix, errno: ENOENT)
        for parent in parents where Self.isPlain(parent) {
            Self.removeAbandoned(in: parent)
            let folder: String
            do throws(Report) {
                folder = try Self.makeLockedFolder(in: parent)
            } catch {
                failure = error
                continue
            }
            path = "\(folder)/\(Self.name)"
            self.folder = folder
            do throws(VarlinkServerError) {
                socket = try ServerSocket.listening(at: path, backlog: Self.backlog)
            } catch {
                Self.remove(folder)
                throw Report(error)
            }
            return
        }
        throw failure
    }

    /// Creates the socket at a path that a person has named. A socket there at which nobody listens is replaced.
    init(at path: String) throws(Report) {
        do throws(VarlinkServerError) {
            socket = try ServerSocket.bound(to: path, backlog: Self.backlog)
        } catch {
            throw Report(error)
        }
        self.path = path
        folder = nil
    }

    /// Whether ssh accepts the path without changes (ssh_config(5): colons, `%` and `$` have a meaning) and it is short
    /// enough for a socket.
    private static func isPlain(_ parent: String) -> Bool {
        parent.wholeMatch(of: /[A-Za-z0-9\/._+@-]{1,70}/) != nil
    }

    private static func makeLockedFolder(in parent: String) throws(Report) -> String {
        var template = Array("\(parent)/\(prefix)XXXXXX".utf8CString)
        // mkdtemp(3) creates it with mode 0700.
        guard unsafe mkdtemp(&template) != nil else { throw .cannotCreateFile(path: parent, errno: errno) }
        let path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        let lock = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard lock >= 0, flock(lock, LOCK_EX | LOCK_NB) == 0 else {
            let failure = errno
            remove(path)
            throw .cannotCreateFile(path: path, errno: failure)
        }
        return path
    }

    /// Removes the socket and its own folder.
    func remove() {
        socket.removePath()
        if let folder { Self.remove(folder) }
    }

    private static func remove(_ folder: String) {
        _ = unsafe unlink("\(folder)/\(name)")
        _ = unsafe rmdir(folder)
    }

    /// Removes folders whose program was killed.
    private static func removeAbandoned(in parent: String) {
        for name in folderNames(parent) where name.hasPrefix(prefix) {
            let folder = "\(parent)/\(name)"
            let lock = unsafe open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            guard lock >= 0 else { continue }
            if flock(lock, LOCK_EX | LOCK_NB) == 0 { remove(folder) }
            close(lock)
        }
    }
}

extension Report {
    fileprivate init(_ error: VarlinkServerError) {
        let status: ExitStatus
        switch error {
        case .cannotMakeFolder(let path, let number), .cannotBind(let path, let number):
            self = .cannotCreateFile(path: path, errno: number)
            return
        case .alreadyListening, .notASocket, .pathTooLong, .notAListenSocket: status = .usage
        case .folderOpenToOthers: status = .notPermitted
        case .folderBusy, .cannotListen, .cannotAccept, .cannotWatch: status = .tryAgainLater
        }
        self.init(
            status: status,
            name: "authctl.CannotListen",
            message: error.description,
            hints: status == .tryAgainLater ? [] : ["name another path, in a folder of your own"]
        )
    }
}
