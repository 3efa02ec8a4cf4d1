import Glibc

/// Another program, run from this thread and therefore in its namespaces.
struct ChildProcess {
    let name: String
    let pid: pid_t
    /// The reading end of the program's standard output.
    let output: Int32

    /// Starts `words[0]`, which is looked up in PATH. `passed` become its descriptors 3, 4 and so on.
    static func start(_ words: [String], passing passed: [Int32] = []) throws -> ChildProcess {
        var ends: [Int32] = [0, 0]
        guard unsafe pipe(&ends) == 0 else { throw TestFault.system("pipe", errno: errno) }
        defer { close(ends[1]) }
        _ = fcntl(ends[0], F_SETFD, FD_CLOEXEC)
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
        unsafe posix_spawn_file_actions_addclose(&actions, ends[1])
        // Copied to high numbers first, so that none overwrites another that is still to be passed.
        let copies = passed.map { fcntl($0, F_DUPFD_CLOEXEC, 100) }
        defer { for copy in copies { close(copy) } }
        for (index, copy) in copies.enumerated() {
            unsafe posix_spawn_file_actions_adddup2(&actions, copy, Int32(3 + index))
        }

        var arguments = unsafe words.map { unsafe strdup($0) } + [nil]
        defer { unsafe arguments.forEach { unsafe free($0) } }
        var pid: pid_t = 0
        let result = unsafe posix_spawnp(&pid, words[0], &actions, nil, &arguments, environ)
        guard result == 0 else { throw TestFault.system("posix_spawnp \(words[0])", errno: result) }
        return ChildProcess(name: words.joined(separator: " "), pid: pid, output: ends[0])
    }

    /// Runs a program to its end and returns its standard output.
    @discardableResult static func run(_ words: String...) throws -> String {
        try start(words).readToEnd()
    }

    /// The path of an executable that this package builds next to its tests.
    static func siblingProgram(_ name: String) throws -> String {
        var path = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = unsafe readlink("/proc/self/exe", &path, path.count)
        guard count > 0 else { throw TestFault.system("readlink", errno: errno) }
        let tests = String(decoding: path[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
        return tests.prefix(through: tests.lastIndex(of: "/") ?? tests.startIndex) + name
    }

    /// Everything that the program prints. Waits for its end, which must be status 0.
    func readToEnd() throws -> String {
        var text: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4096)
        while case let count = unsafe read(output, &piece, piece.count), count > 0 {
            text += piece[..<count]
        }
        let status = wait()
        guard status == 0 else { throw TestFault.command(name, status: status) }
        return String(decoding: text, as: UTF8.self)
    }

    /// The first line that the program prints.
    func readLine() -> String {
        var line: [UInt8] = []
        var byte: UInt8 = 0
        while unsafe read(output, &byte, 1) == 1, byte != UInt8(ascii: "\n") { line.append(byte) }
        return String(decoding: line, as: UTF8.self)
    }

    /// Kills the program and waits for its end.
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
