import CSpawn
import Glibc

/// How a program ended.
package enum ProgramEnd: Sendable, Equatable {
    case exited(Int32)
    case signalled(Int32)
}

/// A running program of this build with an environment of its own. Its output is collected as it arrives.
package final class Program: Sendable {
    package let pid: Int32
    package let name: String
    /// The lines of standard output, without their newlines. A last line without a newline is added when the program
    /// has ended.
    package let output = EventLog<String>()
    package let errors = EventLog<String>()
    private let end = EventLog<ProgramEnd>()

    /// The folder with the executables that were built together with the tests.
    package static let products: String = {
        var path = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = unsafe readlink("/proc/self/exe", &path, path.count)
        let executable = String(decoding: path[..<max(count, 0)].map(UInt8.init(bitPattern:)), as: UTF8.self)
        return String(executable[..<(executable.lastIndex(of: "/") ?? executable.startIndex)])
    }()

    /// - Parameters:
    ///   - executable: a path, or the name of a program that was built together with the tests.
    ///   - input: its standard input.
    ///   - passed: descriptors that it gets as 3 and following.
    ///   - errorFile: a file for its standard error instead of `errors`, so that a program with much output can be
    ///     measured without a reader.
    package init(
        _ executable: String,
        _ arguments: [String],
        environment: [String: String],
        input: String = "",
        passed: [Int32] = [],
        errorFile: String? = nil
    ) throws(TestFault) {
        let path = executable.hasPrefix("/") ? executable : Self.products + "/" + executable
        name = executable
        // Sockets can be made close-on-exec in one step. That is necessary because another test may start a program at
        // the same time.
        var streams = try [Self.pair(), Self.pair(), Self.pair()]
        if let errorFile {
            close(streams[2].child)
            streams[2].child = unsafe open(errorFile, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
            guard streams[2].child >= 0 else { throw .system("open \(errorFile)", errno: errno) }
        }
        pid = try Self.spawn(path, arguments, environment, streams.map(\.child) + passed)
        for stream in streams { close(stream.child) }
        Self.feed(input, to: streams[0].parent)
        let readers = [(streams[1].parent, output), (streams[2].parent, errors)]
        for (descriptor, log) in readers {
            startThread { Self.collect(descriptor, into: log) }
        }
        startThread { [pid, end] in
            end.append(Self.wait(for: pid))
        }
    }

    /// Runs a program to its end, on this thread.
    ///
    /// It is used instead of Foundation's `Process`, which crashes in a process with more than some 1,360 descriptors.
    ///
    /// - Returns: how the program ended, and what it wrote to standard output and standard error.
    package static func run(_ path: String, _ arguments: [String]) throws(TestFault) -> (end: ProgramEnd, text: String)
    {
        let (input, output) = (try pair(), try pair())
        close(input.parent)
        let pid = try spawn(path, arguments, [:], [input.child, output.child, output.child])
        close(input.child)
        close(output.child)
        let text = EventLog<String>()
        collect(output.parent, into: text)
        return (wait(for: pid), text.all.joined(separator: "\n"))
    }

    /// Whether the program has not been waited for yet, so that its process id cannot belong to another process.
    package var isRunning: Bool { end.count == 0 }

    package func signal(_ number: Int32) {
        _ = kill(pid, number)
    }

    /// - Throws: `timedOut` if it does not end within `limit`.
    @discardableResult package func ended(within limit: Duration = .patience) async throws(TestFault) -> ProgramEnd {
        let how = try await end.first("the end of \(name)", within: limit) { _ in true }
        // All its output is in the sockets by now, and the readers end by themselves.
        await output.drained()
        await errors.drained()
        return how
    }

    package var outputText: String { output.all.joined(separator: "\n") }
    package var errorText: String { errors.all.joined(separator: "\n") }

    private static func pair() throws(TestFault) -> (parent: Int32, child: Int32) {
        var ends: [Int32] = [0, 0]
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard unsafe socketpair(AF_UNIX, type, 0, &ends) == 0 else { throw .system("socketpair", errno: errno) }
        return (ends[0], ends[1])
    }

    private static func spawn(
        _ path: String,
        _ arguments: [String],
        _ environment: [String: String],
        _ streams: [Int32]
    ) throws(TestFault) -> pid_t {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        for (number, stream) in streams.enumerated() {
            unsafe posix_spawn_file_actions_adddup2(&actions, stream, Int32(number))
        }
        // NIO's sockets are not closed on exec. A child that held the connection of an issuer open would hide from its
        // client that the issuer closed it.
        unsafe close_from(&actions, Int32(streams.count))
        // The threads of a test block signals that a program needs.
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        unsafe sigemptyset(&none)
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))

        var words = unsafe ([path] + arguments).map { unsafe strdup($0) } + [nil]
        var variables = unsafe environment.map { unsafe strdup("\($0.key)=\($0.value)") } + [nil]
        defer { unsafe (words + variables).forEach { unsafe free($0) } }
        var pid: pid_t = 0
        // A program file that a test has just written is busy while a child of another thread, between fork and exec,
        // still holds the descriptor with which it was written.
        var result = ETXTBSY
        for _ in 0..<10_000 where result == ETXTBSY {
            result = unsafe posix_spawn(&pid, path, &actions, &attributes, &words, &variables)
            sched_yield()
        }
        guard result == 0 else { throw .system("posix_spawn \(path)", errno: result) }
        return pid
    }

    private static func feed(_ input: String, to descriptor: Int32) {
        let bytes = Array(input.utf8)
        // The socket's buffer is large enough for everything that tests write.
        _ = unsafe send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
        close(descriptor)
    }

    private static func collect(_ descriptor: Int32, into log: EventLog<String>) {
        var piece = [UInt8](repeating: 0, count: 16 << 10)
        var line: [UInt8] = []
        while case let count = unsafe read(descriptor, &piece, piece.count), count > 0 {
            for byte in piece[..<count] {
                guard byte == UInt8(ascii: "\n") else {
                    line.append(byte)
                    continue
                }
                log.append(String(decoding: line, as: UTF8.self))
                line = []
            }
        }
        if !line.isEmpty { log.append(String(decoding: line, as: UTF8.self)) }
        close(descriptor)
        log.end()
    }

    private static func wait(for pid: pid_t) -> ProgramEnd {
        var status: Int32 = 0
        while unsafe waitpid(pid, &status, 0) < 0 && errno == EINTR {}
        let signal = status & 0x7f
        return signal == 0 ? .exited(status >> 8 & 0xff) : .signalled(signal)
    }
}

extension EventLog {
    /// Waits until all output has been read.
    fileprivate func drained() async {
        _ = try? await first("the end of the output", from: .max, within: .seconds(30)) { _ in false }
    }
}
