import Glibc
import Systemd
import Testing

// Passed sockets have fixed numbers and the environment is the process's: each test runs in a process of its own.
@Suite struct ListenSocketsTests {
    @Test func `passed sockets come with their names and close on exec`() async {
        await #expect(processExitsWith: .success) {
            let directory = try TemporaryDirectory()
            let first = try UnixSocket(SOCK_STREAM, at: "\(directory.path)/a")
            let second = try UnixSocket(SOCK_STREAM, at: "\(directory.path)/b")
            listen(first.descriptor, 1)
            listen(second.descriptor, 1)
            let (sockets, flags) = try passing([first.descriptor, second.descriptor], names: "varlink:admin") {
                let sockets = try ListenSockets.received()
                return (sockets, sockets.map { fcntl($0.descriptor, F_GETFD) })
            }
            #expect(sockets.map(\.descriptor) == [3, 4])
            #expect(sockets.map(\.name) == ["varlink", "admin"])
            #expect(flags == [FD_CLOEXEC, FD_CLOEXEC])
        }
    }

    @Test func `a socket without a name is called unknown`() async {
        await #expect(processExitsWith: .success) {
            let directory = try TemporaryDirectory()
            let socket = try UnixSocket(SOCK_STREAM, at: "\(directory.path)/a")
            listen(socket.descriptor, 1)
            let sockets = try passing([socket.descriptor], names: nil) { try ListenSockets.received() }
            #expect(sockets.map(\.name) == ["unknown"])
        }
    }

    @Test func `no activation gives no sockets`() async {
        await #expect(processExitsWith: .success) {
            unsafe unsetenv("LISTEN_PID")
            unsafe unsetenv("LISTEN_FDS")
            let sockets = try ListenSockets.received()
            #expect(sockets.isEmpty)
        }
    }

    @Test func `sockets passed to another process are left alone`() async {
        await #expect(processExitsWith: .success) {
            unsafe setenv("LISTEN_PID", "1", 1)
            unsafe setenv("LISTEN_FDS", "1", 1)
            let sockets = try ListenSockets.received()
            #expect(sockets.isEmpty)
        }
    }

    @Test func `a socket that does not listen, a datagram socket and a pipe are refused`() async {
        await #expect(processExitsWith: .success) {
            let directory = try TemporaryDirectory()
            let silent = try UnixSocket(SOCK_STREAM, at: "\(directory.path)/a")
            let datagram = try UnixSocket(SOCK_DGRAM, at: "\(directory.path)/b")
            var ends: [Int32] = [0, 0]
            #expect(unsafe pipe(&ends) == 0)
            for descriptor in [silent.descriptor, datagram.descriptor, ends[0]] {
                #expect(throws: SystemdError.notListeningUnixSocket(name: "varlink", descriptor: 3)) {
                    try passing([descriptor], names: "varlink") { try ListenSockets.received() }
                }
            }
        }
    }

    @Test func `a count that is no number is a malformed environment`() async {
        await #expect(processExitsWith: .success) {
            unsafe setenv("LISTEN_PID", "\(getpid())", 1)
            unsafe setenv("LISTEN_FDS", "many", 1)
            #expect(throws: SystemdError.malformedListenEnvironment(errno: EINVAL)) { try ListenSockets.received() }
        }
    }
}

/// Runs `body` as if the manager had passed `descriptors`, then puts back what had the numbers before.
private func passing<Result>(_ descriptors: [Int32], names: String?, _ body: () throws -> Result) throws -> Result {
    // Copies beyond the numbers to be used, lest one overwrite another.
    let sources = descriptors.map { fcntl($0, F_DUPFD_CLOEXEC, 50) }
    let numbers = (0..<descriptors.count).map { Int32(3 + $0) }
    let saved = numbers.map { fcntl($0, F_DUPFD_CLOEXEC, 50) }
    for (source, number) in zip(sources, numbers) { dup2(source, number) }
    defer { for (saved, number) in zip(saved, numbers) { _ = saved < 0 ? close(number) : dup2(saved, number) } }
    unsafe setenv("LISTEN_PID", "\(getpid())", 1)
    unsafe setenv("LISTEN_FDS", "\(descriptors.count)", 1)
    if let names {
        unsafe setenv("LISTEN_FDNAMES", names, 1)
    } else {
        unsafe unsetenv("LISTEN_FDNAMES")
    }
    return try body()
}
