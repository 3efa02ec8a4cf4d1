import Glibc
import Testing

@Suite struct ListenSocketsTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    @Test func `passed sockets have their names and close on exec`() throws {
        let first = try UnixSocket(SOCK_STREAM, at: path("a"))
        let second = try UnixSocket(SOCK_STREAM, at: path("b"))
        listen(first.descriptor, 1)
        listen(second.descriptor, 1)
        let output = try activate(passing: [first, second], "LISTEN_PID=$$ LISTEN_FDS=2 LISTEN_FDNAMES=varlink:admin")
        #expect(output == "3 varlink close-on-exec\n4 admin close-on-exec\nLISTEN_FDS is kept\n")
    }

    @Test func `a socket without a name is called unknown`() throws {
        let socket = try UnixSocket(SOCK_STREAM, at: path("a"))
        listen(socket.descriptor, 1)
        let output = try activate(passing: [socket], "LISTEN_PID=$$ LISTEN_FDS=1")
        #expect(output == "3 unknown close-on-exec\nLISTEN_FDS is kept\n")
    }

    @Test func `no activation gives no sockets`() throws {
        #expect(try activate(passing: [], "") == "LISTEN_FDS is gone\n")
    }

    @Test func `sockets passed to another process are left alone`() throws {
        let socket = try UnixSocket(SOCK_STREAM, at: path("a"))
        listen(socket.descriptor, 1)
        #expect(try activate(passing: [socket], "LISTEN_PID=1 LISTEN_FDS=1") == "LISTEN_FDS is kept\n")
    }

    @Test(arguments: [SOCK_STREAM.rawValue, SOCK_DGRAM.rawValue])
    func `a socket that does not listen is refused`(type: UInt32) throws {
        let socket = try UnixSocket(__socket_type(rawValue: type), at: path("a"))
        let output = try activate(passing: [socket], "LISTEN_PID=$$ LISTEN_FDS=1 LISTEN_FDNAMES=varlink")
        #expect(output == "passed socket \"varlink\" (descriptor 3) is not a listening Unix stream socket\n")
    }

    @Test(arguments: ["LISTEN_FDS=many", "LISTEN_FDS=-1", "LISTEN_FDS=1 LISTEN_FDNAMES=a:b"])
    func `contradictory variables are an error`(variables: String) throws {
        let socket = try UnixSocket(SOCK_STREAM, at: path("a"))
        listen(socket.descriptor, 1)
        let output = try activate(passing: [socket], "LISTEN_PID=$$ \(variables)")
        #expect(output == "cannot read the sockets passed in LISTEN_FDS: Invalid argument\n")
    }

    private func path(_ name: String) -> String {
        "\(directory.path)/\(name)"
    }

    /// The output of the probe if a service manager starts it in this way. The shell's `$$` is the probe's process id.
    private func activate(passing sockets: [UnixSocket], _ variables: String) throws -> String {
        let probe = try ChildProcess.siblingProgram("SystemdProbe")
        let command = "unset LISTEN_PID LISTEN_FDS LISTEN_FDNAMES; \(variables) exec \"$1\""
        let child = try ChildProcess.start(
            ["sh", "-c", command, "sh", probe],
            passing: sockets.map(\.descriptor)
        )
        return try child.readToEnd()
    }
}
