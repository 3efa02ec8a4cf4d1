internal import Glibc
internal import Basics

/// Who listens on a port of this machine. The daemon cannot look, because it may not see the user's other processes.
enum PortHolder {
    /// `: python3 (1234)`; nil if it is not known.
    static func words(_ port: Int64) -> String? {
        let sockets = ["/proc/net/tcp", "/proc/net/tcp6"].flatMap { listeners(in: $0, on: port) }
        guard let socket = sockets.first else { return nil }
        if let holder = process(holding: Set(sockets.map(\.inode))) {
            return ": \(PlainText.line(holder.name)) (\(holder.pid))"
        }
        guard socket.user != getuid() else { return nil }
        return socket.user == 0 ? ": a program of root" : ": a program of another user (uid \(socket.user))"
    }

    /// A listening socket in a table of the kernel (proc_net_tcp).
    private struct Listener {
        let user: uid_t
        let inode: String
    }

    private static func listeners(in table: String, on port: Int64) -> [Listener] {
        (text(table) ?? "").split(separator: "\n").dropFirst().compactMap { line in
            let fields = line.split(separator: " ")
            // The local address ends with the port in hexadecimal digits; 0A is LISTEN.
            guard fields.count > 9, fields[3] == "0A", let user = uid_t(fields[7]),
                fields[1].split(separator: ":").last.flatMap({ Int64($0, radix: 16) }) == port
            else { return nil }
            return Listener(user: user, inode: String(fields[9]))
        }
    }

    /// The process that has one of the sockets open, if it is the user's own.
    private static func process(holding inodes: Set<String>) -> (pid: Int32, name: String)? {
        let links = Set(inodes.map { "socket:[\($0)]" })
        for pid in folderNames("/proc").compactMap(Int32.init) {
            let folder = "/proc/\(pid)/fd"
            guard folderNames(folder).contains(where: { link("\(folder)/\($0)").map(links.contains) ?? false }) else {
                continue
            }
            return (pid, text("/proc/\(pid)/comm").map { String($0.prefix { $0 != "\n" }) } ?? "?")
        }
        return nil
    }

    private static func link(_ path: String) -> String? {
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = unsafe readlink(path, &bytes, bytes.count)
        return count > 0 ? String(decoding: bytes[..<count], as: UTF8.self) : nil
    }

    private static func text(_ path: String) -> String? {
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var (text, chunk) = ([UInt8](), [UInt8](repeating: 0, count: 1 << 16))
        while case let count = unsafe read(file, &chunk, chunk.count), count > 0 { text += chunk[..<count] }
        return String(decoding: text, as: UTF8.self)
    }
}
