import Glibc

/// Another program, run from this thread (and so in its namespaces).
struct ChildProcess {
    let pid: pid_t
    /// The reading end of the program's standard output.
    let output: Int32

    /// Starts `words[0]`, looked up in PATH.
    static func start(_ words: [String]) throws -> ChildProcess {
        var ends: [Int32] = [0, 0]
        guard unsafe pipe(&ends) == 0 else { throw TestFault.system("pipe", errno: errno) }
        defer { close(ends[1]) }
        _ = fcntl(ends[0], F_SETFD, FD_CLOEXEC)
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
        unsafe posix_spawn_file_actions_addclose(&actions, ends[1])

        var arguments = unsafe words.map { unsafe strdup($0) } + [nil]
        defer { for unsafeargument in unsafe arguments { unsafe free(argument) } }
        var pid: pid_t = 0
        let result = unsafe posix_spawnp(&pid, words[0], &actions, nil, &arguments, environ)
        guard result == 0 else { throw TestFault.system("posix_spawnp \(words[0])", errno: result) }
        return ChildProcess(pid: pid, output: ends[0])
    }

    /// Runs a program to its end and returns its standard output.
    @discardableResult static func run(_ words: String...) throws -> String {
        let child = try start(words)
        var output: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4096)
        while case let count = unsafe read(child.output, &piece, piece.count), count > 0 {
            output += piece[..<count]
        }
        let status = child.wait()
        guard status == 0 else { throw TestFault.command(words.joined(separator: " "), status: status) }
        return String(decoding: output, as: UTF8.self)
    }

    /// The first line that the program prints.
    func readLine() -> String {
        var line: [UInt8] = []
        var byte: UInt8 = 0
        while unsafe read(output, &byte, 1) == 1, byte != UInt8(ascii: "\n") { line.append(byte) }
        return String(decoding: line, as: UTF8.self)
    }

    /// Kills it and waits for its end.
    func kill() {
        _ = Glibc.kill(pid, SIGKILL)
        wait()
    }

    @discardableResult private func wait() -> Int32 {
        var status: Int32 = 0
        while unsafe waitpid(pid, &status, 0) < 0 && errno == EINTR {}
        close(output)
        return status
    }
}
