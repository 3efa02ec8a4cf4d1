internal import Basics
internal import Glibc

/// This user's processes, by the names of their programs.
enum ProcessTable {
    struct Entry: CustomStringConvertible {
        let pid: Int32
        /// The parent process; 0 if the process has ended.
        let parent: Int32
        let program: String

        var description: String { "\(program), process \(pid)" }
    }

    /// How many bytes of an argument list are read. The program's name is in the first words.
    private static let argumentBytes = 4096
    /// The words that can contain the program's name: an interpreter, its options, and the script or module.
    private static let wordsMax = 4

    /// The running processes of these programs. A script counts under its own name: `python3
    /// /home/jane/bin/mutt_oauth2.py` is `mutt_oauth2.py`, and `python3 -m azure.cli` is `azure.cli`.
    static func running(_ programs: [String]) -> [Entry] {
        folderNames("/proc").compactMap(Int32.init).filter { $0 != getpid() && isOwn($0) }.sorted().compactMap { pid in
            names(of: pid).first(where: programs.contains).map { Entry(pid: pid, parent: parent(of: pid), program: $0) }
        }
    }

    /// The second field after the name in parentheses, which may contain any character (proc(5)).
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

    /// The kernel's name of the process, and the last path components of its first words. A process that has ended and
    /// waits for its parent has no words and is not of interest.
    private static func names(of pid: Int32) -> [String] {
        let words = read("/proc/\(pid)/cmdline").split(separator: 0).prefix(wordsMax)
        guard !words.isEmpty else { return [] }
        let command = String(decoding: read("/proc/\(pid)/comm").prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        let parts = words.map { word in
            String(decoding: word.split(separator: UInt8(ascii: "/")).last ?? [], as: UTF8.self)
        }
        // An editor with the script open does not run it.
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
