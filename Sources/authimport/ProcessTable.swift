internal import Glibc

/// The processes of this user, by the names of their programs.
enum ProcessTable {
    struct Entry: CustomStringConvertible {
        let pid: Int32
        /// The process that has started it; 0 if it has ended meanwhile.
        let parent: Int32
        let program: String

        var description: String { "\(program), process \(pid)" }
    }

    /// Bytes of an argument list that are looked at: what is run stands in the first words.
    private static let argumentBytes = 4096
    /// The words that can name a program: an interpreter, its options, and the script or module.
    private static let wordsMax = 4

    /// The running ones among these programs. A script counts by its own name: `python3 /home/jane/bin/mutt_oauth2.py` is
    /// `mutt_oauth2.py`, and `python3 -m azure.cli` is `azure.cli`.
    static func running(_ programs: [String]) -> [Entry] {
        guard let folder = unsafe opendir("/proc") else { return [] }
        defer { unsafe closedir(folder) }
        var entries: [Entry] = []
        while let item = unsafe readdir(folder) {
            let name = unsafe withUnsafeBytes(of: item.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard let pid = Int32(name), pid != getpid(), isOwn(pid) else { continue }
            if let program = names(of: pid).first(where: programs.contains) {
                entries.append(Entry(pid: pid, parent: parent(of: pid), program: program))
            }
        }
        return entries.sorted { $0.pid < $1.pid }
    }

    /// The second field behind the name in parentheses, which may have any character (proc(5)).
    private static func parent(of pid: Int32) -> Int32 {
        let fields = read("/proc/\(pid)/stat").split(separator: UInt8(ascii: ")")).last?.split(
            separator: UInt8(ascii: " ")
        )
        guard let fields, fields.count > 1 else { return 0 }
        return Int32(String(decoding: fields[1], as: UTF8.self)) ?? 0
    }

    private static func isOwn(_ pid: Int32) -> Bool {
        var status = stat()
        return unsafe stat("/proc/\(pid)", &status) == 0 && status.st_uid == getuid()
    }

    /// What the kernel calls it, and the last parts of its first words. A process that has ended and waits for its parent has no
    /// words, and holds nothing.
    private static func names(of pid: Int32) -> [String] {
        let words = read("/proc/\(pid)/cmdline").split(separator: 0).prefix(wordsMax)
        guard !words.isEmpty else { return [] }
        let command = String(decoding: read("/proc/\(pid)/comm").prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        let parts = words.map { word in
            String(decoding: word.split(separator: UInt8(ascii: "/")).last ?? [], as: UTF8.self)
        }
        // An editor that has the script open does not run it.
        let isInterpreter = parts[0].hasPrefix("python") || ["sh", "bash", "dash"].contains(parts[0])
        return [command] + (isInterpreter ? parts : [parts[0]])
    }

    private static func read(_ path: String) -> [UInt8] {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return [] }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: argumentBytes)
        let count = unsafe Glibc.read(descriptor, &bytes, bytes.count)
        return Array(bytes.prefix(max(0, count)))
    }
}
