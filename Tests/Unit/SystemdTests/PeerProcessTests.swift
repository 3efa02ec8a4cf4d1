import Glibc
import Testing

@testable import Systemd

struct PeerProcessTests {
    /// Two connected sockets of this process.
    private func pair() throws -> [Int32] {
        var ends: [Int32] = [0, 0]
        guard unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0 else {
            throw TestFault.system("socketpair", errno: errno)
        }
        return ends
    }

    @Test func `a caller is identified by its executable, whatever path leads to it`() throws {
        let ends = try pair()
        defer { for end in ends { close(end) } }
        let caller = try #require(HeldProcess(socket: ends[0], pid: getpid(), connectedAt: BootClock.now())?.look())
        #expect(caller.pid == getpid())
        #expect(caller.file == FileIdentity(path: "/proc/self/exe"))
        #expect(caller.file != nil)
        #expect(caller.file != FileIdentity(path: "/bin/sh"))
        let path = try #require(caller.executable)
        #expect(FileIdentity(path: path) == caller.file)
        #expect(try FileIdentity(path: #require(caller.path)) == caller.file)
        #expect(FileIdentity(path: "/nowhere") == nil)
    }

    @Test func `no descriptor is leaked`() throws {
        let ends = try pair()
        defer { for end in ends { close(end) } }
        // If nothing is left open, the lowest free number stays the same. Other tests run in this process, so several
        // attempts are made.
        let isClean = (0..<100).contains { _ in
            let before = dup(ends[0])
            close(before)
            _ = HeldProcess(socket: ends[0], pid: getpid(), connectedAt: BootClock.now())?.look()
            let after = dup(ends[0])
            close(after)
            return before == after
        }
        #expect(isClean)
    }

    @Test func `a caller that has ended is unknown, even if its number was reused`() throws {
        let folder = try TemporaryDirectory()
        let path = folder.path + "/socket"
        let listener = try UnixSocket(SOCK_STREAM, at: path)
        #expect(listen(listener.descriptor, 1) == 0)
        let script =
            "import os, socket, sys; s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); print(os.getpid())"
        let printed = try ChildProcess.run("/usr/bin/python3", "-c", script, path)
        let pid = try #require(Int32(printed.prefix { $0 != "\n" }))
        let socket = accept(listener.descriptor, nil, nil)
        defer { close(socket) }
        #expect(socket >= 0)
        #expect(HeldProcess(socket: socket, pid: pid, connectedAt: BootClock.now())?.look() == nil)
    }

    @Test func `a process's start time is read whatever its name contains`() {
        let fields = (4...25).map { $0 == 22 ? "12345" : "1" }.joined(separator: " ")
        let text = "77 (a) R 9 (b) S \(fields)"
        #expect(HeldProcess.startTime(in: text, ticksPerSecond: 100) == 123_450_000)
        #expect(HeldProcess.startTime(in: "77 (a) S 1 2", ticksPerSecond: 100) == nil)
        #expect(HeldProcess.startTime(in: "77", ticksPerSecond: 100) == nil)
        #expect(HeldProcess.startTime(in: text, ticksPerSecond: 0) == nil)
    }
}
