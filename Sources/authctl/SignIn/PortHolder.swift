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

    /// The listening sockets in a table of the kernel (proc_net_tcp).
    private static func listeners(in table: String, on port: Int64) -> [(user: uid_t, inode: String)] {
        (text(table) ?? "").split(separator: "\n").dropFirst().compactMap { line in
            let fields = line.split(separator: " ")
            // The local address ends with the port in hexadecimal digits; 0A is LISTEN.
            guard fields.count > 9, fields[3] == "0A", let user = uid_t(fields[7]),
                fields[1].split(separator: ":").last.flatMap({ Int64($0, radix: 16) }) == port
            else { return nil }
            return (user, String(fields[9]))
        }
    }

    /// The process that has one of the sockets open, if it is the user's own.
    private static func process(holding inodes: Set<String>) -> (pid: Int32, name: String)? {
        let links = Set(inodes.map { "socket:[\($0)]" })
        for pid in folderNames("/proc").compactMap(Int32.init) {
            let folder = "/proc/\(pid)/fd"
            guard
                folderNames(folder).contains(where: {
                    OutputFile.target(ofLink: "\(folder)/\($0)").map(links.contains) ?? false
                })
            else {
                continue
            }
            return (pid, text("/proc/\(pid)/comm").map { String($0.prefix { $0 != "\n" }) } ?? "?")
        }
        return nil
    }

    private static func text(_ path: String) -> String? {
        let bytes = try? NamedFile.contents(of: path, limit: 64 << 20)
        return bytes.map { String(decoding: $0, as: UTF8.self) }
    }
}
