internal import Glibc

/// The forwarded socket, in a folder of its own that no other user can enter.
///
/// The folder is never on a disk, and disappears with the login session at the latest.
final class ForwardSocket {
    private static let prefix = "authctl-forward-"
    private static let name = "socket"
    /// How many programs of the other machine may wait for a connection.
    private static let backlog: Int32 = 64

    let path: String
    let descriptor: Int32
    private let folder: String
    /// The folder, locked while this program runs.
    private let lock: Int32

    /// Creates the socket.
    ///
    /// - Parameter parents: the first usable one is used.
    /// - Throws: `cannotCreateFile`.
    init(in parents: [String]) throws(Report) {
        var failure = Report.cannotCreateFile(path: Self.prefix, errno: ENOENT)
        for parent in parents where Self.isPlain(parent) {
            Self.removeAbandoned(in: parent)
            do throws(Report) {
                (folder, lock) = try Self.makeFolder(in: parent)
            } catch {
                failure = error
                continue
            }
            path = "\(folder)/\(Self.name)"
            do throws(Report) {
                descriptor = try Self.listen(at: path)
            } catch {
                Self.remove(folder)
                throw error
            }
            return
        }
        throw failure
    }

    /// Whether ssh accepts the path without changes (ssh_config(5): colons, `%` and `$` have a meaning) and it is short
    /// enough for a socket.
    private static func isPlain(_ parent: String) -> Bool {
        parent.wholeMatch(of: /[A-Za-z0-9\/._+@-]{1,70}/) != nil
    }

    private static func makeFolder(in parent: String) throws(Report) -> (path: String, lock: Int32) {
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
        return (path, lock)
    }

    private static func listen(at path: String) throws(Report) -> Int32 {
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let descriptor = socket(AF_UNIX, type, 0)
        guard descriptor >= 0 else { throw .cannotCreateFile(path: path, errno: errno) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
        // On Linux the file gets the mode of the unbound socket, so it never exists with a wider mode.
        _ = fchmod(descriptor, 0o600)
        let isBound = unsafe withUnsafePointer(to: address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
        guard isBound, Glibc.listen(descriptor, backlog) == 0 else {
            throw .cannotCreateFile(path: path, errno: errno)
        }
        return descriptor
    }

    /// Closes and removes the socket and its folder.
    func remove() {
        Self.remove(folder)
    }

    private static func remove(_ folder: String) {
        _ = unsafe unlink("\(folder)/\(name)")
        _ = unsafe rmdir(folder)
    }

    /// Removes folders whose program was killed.
    private static func removeAbandoned(in parent: String) {
        guard let listing = unsafe opendir(parent) else { return }
        defer { unsafe closedir(listing) }
        while let entry = unsafe readdir(listing) {
            let name = unsafe withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard name.hasPrefix(prefix) else { continue }
            let folder = "\(parent)/\(name)"
            let lock = unsafe open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            guard lock >= 0 else { continue }
            if flock(lock, LOCK_EX | LOCK_NB) == 0 { remove(folder) }
            close(lock)
        }
    }
}
