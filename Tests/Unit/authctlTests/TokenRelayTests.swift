import Foundation
import Glibc
import TestSupport
import Testing
import AuthRefreshInterface

@testable import authctl

/// The relay alone. The test runs its turns by hand, between callers and a daemon that are sockets of the test.
@Suite struct TokenRelayTests {
    private static let acquire =
        #"{"method":"io.authrefresh.AcquireToken","parameters":{"account":"work"}}"# + "\0"
    /// The same, as the daemon gets it.
    private static let passed =
        #"{"method":"io.authrefresh.AcquireToken","parameters":{"account":"work","host":"build"}}"# + "\0"

    private final class Stage {
        let folder: TemporaryFolder
        /// The sockets for the relay's callers and for the daemon.
        let (callers, daemon): (ForwardSocket, ForwardSocket)
        let relay: TokenRelay

        init() throws {
            folder = try TemporaryFolder()
            callers = try ForwardSocket(in: [folder.path])
            daemon = try ForwardSocket(in: [folder.path])
            let path = daemon.path
            let connect: ForwardClient.Connect = { () throws(VarlinkClientError) in
                try VarlinkConnection(path: path, replyBytesMax: TokenRelay.forwardedReplyBytesMax)
            }
            let filter = ForwardedCallFilter(accounts: [("work", nil)], host: "build")
            relay = TokenRelay(listener: callers.descriptor, filter: filter, connect: connect)
        }

        /// Lets the relay do all pending work.
        func turn() {
            var ready = relay.interests
            while unsafe poll(&ready, nfds_t(ready.count), 0) > 0 {
                relay.serve(ready[...])
                ready = relay.interests
            }
        }

        /// Accepts the connection for a call at the daemon's socket.
        func accept() throws -> Int32 {
            let descriptor = Glibc.accept(daemon.descriptor, nil, nil)
            guard descriptor >= 0 else { throw TestFault.system("accept", errno: errno) }
            return descriptor
        }
    }

    private func read(_ descriptor: Int32) -> String? {
        var bytes = [UInt8](repeating: 0, count: 64 << 10)
        let count = unsafe recv(descriptor, &bytes, bytes.count, Int32(MSG_DONTWAIT))
        return count < 0 ? nil : String(decoding: bytes[..<count], as: UTF8.self)
    }

    private func write(_ text: String, to descriptor: Int32) -> Int {
        let bytes = Array(text.utf8)
        return unsafe send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
    }

    @Test func `the daemon gets a newly written call`() throws {
        let stage = try Stage()
        let caller = try RawConnection(stage.callers.path)
        try caller.send(#"{"x":{"y":1},"parameters":{"account":"work"},"method":"io.authrefresh.AcquireToken"}"# + "\0")
        stage.turn()
        let daemon = try stage.accept()
        defer { close(daemon) }
        #expect(read(daemon) == Self.passed)
        #expect(write("{\"parameters\":{\"accessToken\":\"t\"}}\0", to: daemon) > 0)
        stage.turn()
        #expect(try caller.receive() == #"{"parameters":{"accessToken":"t"}}"#)
        // The connection was only for this call.
        #expect(read(daemon) == "")
    }

    /// As when the process has no descriptor left: a client that waits in the kernel would keep poll(2) from waiting.
    @Test func `if a client cannot be let in, the next attempt waits for an event or a pause`() {
        let broken = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(broken) }
        let relay = TokenRelay(listener: broken, filter: ForwardedCallFilter(accounts: [], host: "build")) {
            () throws(VarlinkClientError) -> VarlinkConnection in
            throw .connectionClosed
        }
        #expect(relay.interests.map(\.fd) == [broken] && relay.pauseMicroseconds == nil)
        relay.serve([pollfd(fd: broken, events: Int16(POLLIN), revents: Int16(POLLIN))][...])
        #expect(relay.interests.map(\.fd) == [-1] && relay.pauseMicroseconds != nil)
        relay.serve([pollfd(fd: -1, events: Int16(POLLIN), revents: 0)][...])
        #expect(relay.interests.map(\.fd) == [broken] && relay.pauseMicroseconds == nil)
    }

    /// Sends standard input to the socket in a folder as another user, and ends. The kernel records who has connected.
    private static let visitor = """
        perl -MSocket -e '
            chdir($ARGV[0]) or die; socket(S, AF_UNIX, SOCK_STREAM, 0) or die;
            $> = $ARGV[1]; connect(S, pack_sockaddr_un("socket")) or die;
            $/ = undef; syswrite(S, <STDIN>) or die'
        """

    @Test(.enabled(if: isRoot && CommandRun.has("perl"), "only root can be another user"), arguments: [0, 4711])
    func `another user's call does not reach the daemon, even if the folder allows access`(user: Int) throws {
        let stage = try Stage()
        let folder = (stage.callers.path as NSString).deletingLastPathComponent
        for (path, mode) in [(folder, 0o755), (stage.callers.path, 0o666)] {
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        }
        let run = try CommandRun()
        defer { run.remove() }
        #expect(try run.run("\(Self.visitor) '\(folder)' \(user)", input: Self.acquire).status == 0)
        stage.turn()
        guard user == 0 else {
            #expect(throws: TestFault.self) { try stage.accept() }
            return
        }
        let daemon = try stage.accept()
        defer { close(daemon) }
        #expect(read(daemon) == Self.passed)
    }

    /// Our daemon never sends as much.
    @Test func `an endless reply ends the connection`() throws {
        let stage = try Stage()
        let caller = try RawConnection(stage.callers.path)
        try caller.send(Self.acquire)
        stage.turn()
        let daemon = try stage.accept()
        defer { close(daemon) }
        var written = 0
        while case let count = write(String(repeating: " ", count: 64 << 10), to: daemon), count > 0 {
            written += count
            stage.turn()
        }
        let longest = TokenRelay.forwardedReplyBytesMax
        #expect((longest..<2 * longest).contains(written))
        #expect(try caller.receive() == "")
    }

    @Test(arguments: ["", "{}", "x\0", "{\"parameters\":7}\0"]) func `a daemon that hangs up ends the connection`(
        reply: String
    ) throws {
        let stage = try Stage()
        let caller = try RawConnection(stage.callers.path)
        try caller.send(Self.acquire)
        stage.turn()
        let daemon = try stage.accept()
        _ = write(reply, to: daemon)
        close(daemon)
        stage.turn()
        #expect(try caller.receive() == "")
        // Only the listening socket is still watched.
        #expect(stage.relay.interests.count == 1)
    }

    @Test func `a call ends when its caller leaves`() throws {
        let stage = try Stage()
        do {
            let caller = try RawConnection(stage.callers.path)
            try caller.send(Self.acquire)
            stage.turn()
        }
        stage.turn()
        let daemon = try stage.accept()
        defer { close(daemon) }
        #expect(read(daemon) == Self.passed)
        #expect(read(daemon) == "")
        #expect(stage.relay.interests.count == 1)
    }

    /// `forwardedClientsMax` callers, each with a call that the daemon has not answered yet.
    @Test func `one client too many waits until another is answered`() throws {
        let stage = try Stage()
        let most = TokenRelay.forwardedClientsMax
        let callers = try RawConnection.open(most, to: stage.callers.path)
        for caller in callers { try caller.send(Self.acquire) }
        stage.turn()
        let late = try RawConnection(stage.callers.path)
        try late.send(Self.acquire)
        stage.turn()
        #expect(stage.relay.interests.count == 1 + 2 * most)
        let daemon = try stage.accept()
        defer { close(daemon) }
        #expect(write("{}\0", to: daemon) > 0)
        stage.turn()
        #expect(try callers[0].receive() == #"{"parameters":{}}"#)
        // The caller that was answered has left, and made room.
        #expect(try callers[0].receive() == "")
        for _ in 1..<most { close(try stage.accept()) }
        let last = try stage.accept()
        defer { close(last) }
        #expect(read(last) == Self.passed)
    }
}
