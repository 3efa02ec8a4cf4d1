import Dispatch
import Glibc
import TextEncodings
import TestSupport
import Testing
import Varlink
import AuthRefreshInterface

extension SocketTests {
    /// Each limit of a server, when it is reached.
    @Suite struct ServerLimitTests {
        /// The first refusal that the server reports.
        private func refusal(in served: ServedFolder) async -> PeerFinding? {
            for await event in served.events {
                if case .refused(let refusal, _) = event { return refusal }
            }
            return nil
        }

        private func echo(_ served: ServedFolder) throws -> VarlinkConnection.Reply {
            var client = try VarlinkConnection(path: served.path)
            return try client.call("test.echo.Echo", parameters: #"{"text":"a"}"#, timeoutMilliseconds: 120_000)
        }

        /// The refusal of a process that holds as much as it may, which is this one.
        private func crowded(_ resource: HeldResource, _ amount: Int, of capacity: Int) -> PeerFinding {
            .crowded(resource, Shares.Crowding(capacity: capacity, process: getpid(), amount: amount))
        }

        @Test func `connections are limited, and available again after use`() async throws {
            try await ServedFolder.serving({ $0.limits.connectionsMax = 6 }) { served in
                let (gone, telling) = AsyncStream<Void>.makeStream()
                var calls = served.held.makeAsyncIterator()
                do {
                    let peers = try (0..<3).map { _ in try RawPeer(served.path) }
                    for peer in peers {
                        try peer.write(#"{"method":"test.echo.Hold"}"# + "\0")
                        await calls.next()?.onDisconnect { telling.yield() }
                    }
                    let refused = try echo(served)
                    #expect(refused.error == "org.varlink.service.InvalidParameter")
                    #expect(await refusal(in: served) == crowded(.connections, 3, of: 6))
                    #expect(peers.count == 3)
                }
                var endings = gone.makeAsyncIterator()
                for _ in 0..<3 { await endings.next() }
                #expect(try echo(served).error == nil)
            }
        }

        @Test func `the connections of one process, even idle ones, leave room for another`() async throws {
            try await ServedFolder.serving({ $0.limits.connectionsMax = 6 }) { served in
                let idle = try (0..<10).map { _ in try RawPeer(served.path) }
                #expect(await refusal(in: served) == crowded(.connections, 3, of: 6))
                let other = try Program("/usr/bin/python3", ["-c", Self.echoing, served.path], environment: [:])
                #expect(try await other.ended() == .exited(0), "\(other.errorText)")
                #expect(other.outputText.contains(#""text":"a""#), "\(other.outputText)")
                // This process has as much as it may, and nobody gives way to it.
                #expect(try echo(served).error != nil)
                #expect(idle.count == 10)
            }
        }

        @Test func `if all is taken, the connection that is idle for the longest time gives way to another process`()
            async throws
        {
            try await ServedFolder.serving({ $0.limits.connectionsMax = 2 }) { served in
                var calls = served.held.makeAsyncIterator()
                let idle = try RawPeer(served.path)
                // Another process takes the rest. Its call shows that it is there, and keeps its connection from giving
                // way.
                let script = Self.echoing.replacing("Echo", with: "Hold")
                let holder = try Program("/usr/bin/python3", ["-c", script, served.path], environment: [:])
                let held = await calls.next()
                let third = try Program("/usr/bin/python3", ["-c", Self.echoing, served.path], environment: [:])
                #expect(try await third.ended() == .exited(0), "\(third.errorText)")
                #expect(third.outputText.contains(#""text":"a""#), "\(third.outputText)")
                #expect(idle.isHungUp())
                #expect(idle.messages().first?.contains("has 1 of 2") == true)
                held?.reply(["text": "held"])
                #expect(try await holder.ended() == .exited(0), "\(holder.errorText)")
                #expect(holder.outputText.contains("held"), "\(holder.outputText)")
            }
        }

        /// Connects, calls `Echo`, and prints the reply.
        private static let echoing = """
            import socket, sys
            peer = socket.socket(socket.AF_UNIX)
            peer.connect(sys.argv[1])
            peer.sendall(b'{"method":"test.echo.Echo","parameters":{"text":"a"}}\\0')
            print(peer.recv(4096).split(b"\\0")[0].decode())
            """

        @Test func `calls that stay open are limited, and their connections can be used for others`() async throws {
            try await ServedFolder.serving({ $0.limits.connectionsMax = 8 }) { served in
                let hold = #"{"method":"test.echo.Hold","more":true}"# + "\0"
                let peers = try (0..<3).map { _ in try RawPeer(served.path) }
                var calls = served.held.makeAsyncIterator()
                var held: [VarlinkResponder?] = []
                for peer in peers.prefix(2) {
                    try peer.write(hold)
                    held.append(await calls.next())
                }
                try peers[2].write(hold + #"{"method":"test.echo.Echo","parameters":{"text":"a"}}"# + "\0")
                let answers = peers[2].messages(2)
                #expect(answers.first?.contains("heldCalls") == true, "\(answers)")
                #expect(answers.last?.contains(#""text":"a""#) == true, "\(answers)")
                #expect(await refusal(in: served) == crowded(.heldCalls, 2, of: 4))
                held[0]?.reply(["text": "over"])
                #expect(peers[0].messages(1).count == 1)
                try peers[2].write(hold)
                #expect(await calls.next() != nil)
            }
        }

        @Test func `for a peer that does not read, no more replies are created than may wait`() async throws {
            try await ServedFolder.serving { served in
                let peer = try RawPeer(served.path)
                var calls = served.held.makeAsyncIterator()
                try peer.write(#"{"method":"test.echo.Hold"}"# + "\0")
                let responder = await calls.next()
                // All calls are there before the first answer is made. A socket holds some hundred kilobytes.
                let count = 100
                let call = #"{"method":"test.echo.Large","parameters":{"bytes":100000}}"# + "\0"
                try peer.write(String(repeating: call, count: count))
                responder?.reply(["text": "go"])
                // It is answered on the server's thread, after all answers that are made at once.
                #expect(try echo(served).error == nil)
                #expect(served.largeAnswers.value < 10)
                #expect(peer.messages(count + 1).count == count + 1)
                #expect(served.largeAnswers.value == count)
            }
        }

        @Test func `the user we run as and root may call, and nobody else`() {
            let allows = VarlinkServerConfiguration(endpoint: .path("/nowhere")).allowsPeer
            let user = geteuid()
            for uid in [0, user] { #expect(allows(PeerCredentials(pid: 1, uid: uid, gid: 0)), "\(uid)") }
            for uid in [user + 1, user + 1000] {
                #expect(!allows(PeerCredentials(pid: 1, uid: uid, gid: 0)), "\(uid)")
            }
        }

        @Test(.enabled(if: isRoot, "needs root, to call as another user"))
        func `a peer of another user is refused`() async throws {
            try await ServedFolder.serving { served in
                // The permissions of the files now let everybody in.
                #expect(unsafe chmod(served.folder, 0o755) == 0 && chmod(served.path, 0o666) == 0)
                let script = """
                    import socket, sys
                    peer = socket.socket(socket.AF_UNIX)
                    peer.connect(sys.argv[1])
                    try:
                        peer.sendall(b'{"method":"test.echo.Echo","parameters":{"text":"a"}}\\0')
                    except OSError:
                        pass
                    print(peer.recv(4096).split(b"\\0")[0].decode())
                    """
                let program = try Program(
                    "/usr/bin/setpriv",
                    ["--reuid=12345", "--regid=12345", "--clear-groups", "/usr/bin/python3", "-c", script] + [
                        served.path
                    ],
                    environment: [:]
                )
                #expect(try await program.ended() == .exited(0), "\(program.errorText)")
                #expect(program.outputText.contains("org.varlink.service.PermissionDenied"), "\(program.outputText)")
                #expect(await refusal(in: served) == .peerNotAllowed(uid: 12_345))
            }
        }

        @Test func `a peer that the server's owner does not allow is refused by its user ID`() async throws {
            try await ServedFolder.serving({ $0.allowsPeer = { _ in false } }) { served in
                let reply = try echo(served)
                #expect(reply.error == "org.varlink.service.PermissionDenied")
                #expect(await refusal(in: served) == .peerNotAllowed(uid: PeerCredentials.ofThisProcess.uid))
            }
        }

        @Test func `an overlong call is refused before its end`() async throws {
            try await ServedFolder.serving({ $0.limits.messageBytesMax = 1000 }) { served in
                let peer = try RawPeer(served.path)
                try peer.write(String(repeating: "x", count: 1001))
                let messages = peer.messages()
                #expect(messages.count == 1)
                #expect(messages.first?.contains("longer than 1000 bytes") == true)
            }
        }

        @Test func `a call of the limit's size is served`() async throws {
            try await ServedFolder.serving { served in
                var client = try VarlinkConnection(path: served.path)
                let frame = #"{"method":"test.echo.Echo","parameters":{"text":""}}"#
                let text = String(repeating: "x", count: ServerLimits().messageBytesMax - frame.utf8.count)
                let reply = try client.call(
                    "test.echo.Echo",
                    parameters: "{\"text\":\"\(text)\"}",
                    timeoutMilliseconds: 120_000
                )
                #expect(reply.parameters["text"]?.string == text)
            }
        }

        @Test func `the rest of a call must arrive in time, even if bytes drip`() async throws {
            try await ServedFolder.serving({ $0.limits.messageTimeout = .milliseconds(100) }) { served in
                let peer = try RawPeer(served.path)
                try peer.write(#"{"method""#)
                // One byte every 10 ms, for as long as it takes.
                var drops = 0
                while drops < 10_000, !peer.hasInput(within: 10) {
                    try? peer.write(" ")
                    drops += 1
                }
                #expect(drops < 10_000)
                #expect(
                    peer.messages() == [
                        #"{"error":"org.varlink.service.InvalidParameter","#
                            + #""parameters":{"parameter":"message: incomplete"}}"#
                    ]
                )
            }
        }

        @Test func `a connection without a call is closed after its time`() async throws {
            try await ServedFolder.serving({ $0.limits.idleTimeout = .milliseconds(100) }) { served in
                let peer = try RawPeer(served.path)
                #expect(peer.isHungUp())
                #expect(peer.messages() == [])
            }
        }

        @Test func `no time limit cuts a call that waits for its reply`() async throws {
            let configure = { (configuration: inout VarlinkServerConfiguration) in
                // Long enough for the first connection to send its call.
                configuration.limits.idleTimeout = .seconds(2)
                configuration.limits.messageTimeout = .seconds(2)
            }
            try await ServedFolder.serving(configure) { served in
                var calls = served.held.makeAsyncIterator()
                var client = try VarlinkConnection(path: served.path)
                try client.send("test.echo.Hold", parameters: "{}", mode: .one)
                let responder = await calls.next()
                // When the second connection is closed, the time has passed.
                #expect(try RawPeer(served.path).isHungUp())
                responder?.reply(["text": "late"])
                #expect(try client.receive(timeoutMilliseconds: 120_000).parameters["text"]?.string == "late")
            }
        }

        @Test func `a subscriber that does not read gets an error after its last change, without a gap`()
            async throws
        {
            try await ServedFolder.serving { served in
                let peer = try RawPeer(served.path)
                let call = #"{"method":"test.echo.Stream","parameters":{"count":5000,"bytes":1000},"more":true}"#
                try peer.write(call + "\0")
                #expect(await refusal(in: served) == .repliesNotRead(limit: ServerLimits().undrainedBytesMax))
                let messages = peer.messages()
                #expect(messages.last?.contains("bytes unread") == true)
                let numbers = messages.dropLast().map { JSONValue($0)?["parameters"]?["number"]?.integer }
                #expect(numbers.count > 1000)
                #expect(numbers == (1...Int64(numbers.count)).map { $0 })
            }
        }

        @Test func `a subscriber that never reads is cut`() async throws {
            try await ServedFolder.serving({ $0.limits.drainTimeout = .milliseconds(100) }) { served in
                let (gone, telling) = AsyncStream<Void>.makeStream()
                var calls = served.held.makeAsyncIterator()
                let peer = try RawPeer(served.path)
                try peer.write(#"{"method":"test.echo.Hold","more":true}"# + "\0")
                let responder = await calls.next()
                responder?.onDisconnect { telling.yield() }
                let filler = ["text": String(repeating: "x", count: 100_000)]
                for _ in 0..<30 { responder?.reply(filler, continues: true) }
                var endings = gone.makeAsyncIterator()
                await endings.next()
                // The call has ended, and the connection is closed, although the peer never read the last data.
                #expect(peer.isHungUp())
            }
        }

        @Test func `a peer that calls without reading is paused, and gets all its replies in the end`()
            async throws
        {
            try await ServedFolder.serving { served in
                let text = String(repeating: "x", count: 50_000)
                let call = #"{"method":"test.echo.Echo","parameters":{"text":"\#(text)"}}"# + "\0"
                let peer = try RawPeer(served.path)
                // Far more than the kernel holds.
                var rest = Array(String(repeating: call, count: 100).utf8)[...]
                let all = rest.count
                // During a hundred turns, the server reads nothing more from the writer.
                var turns = 0
                while turns < 100, !rest.isEmpty {
                    let written = peer.writeAvailable(rest)
                    rest = rest.dropFirst(written)
                    turns = written > 0 ? 0 : turns + 1
                    if written == 0 { #expect(try echo(served).error == nil) }
                }
                // `undrainedBytesHighWater`, and the contents of two sockets.
                #expect(all - rest.count < all / 2)
                // The replies are read now.
                DispatchQueue.global().async { [rest] in
                    try? peer.write(String(decoding: rest, as: UTF8.self))
                }
                #expect(peer.messages(100).count == 100)
            }
        }

        @Test func `a process that reads nothing is refused long replies, and others are served`() async throws {
            try await ServedFolder.serving({ $0.limits.undrainedBytesOfAllMax = 6 << 20 }) { served in
                let peers = try (0..<8).map { _ in try RawPeer(served.path) }
                for peer in peers {
                    try peer.write(#"{"method":"test.echo.Large","parameters":{"bytes":900000}}"# + "\0")
                }
                guard case .crowded(.unreadBytes, let most) = await refusal(in: served) else {
                    Issue.record("no refusal for unreadBytes")
                    return
                }
                #expect(most.process == getpid() && most.capacity == 6 << 20 && most.amount > 2 << 20)
                // Shorter than `shortReplyBytes`.
                #expect(try echo(served).error == nil)
                // Replies that were accepted before are still sent completely, whichever connection the server handled
                // first.
                let replies = peers.compactMap { $0.messages(1).first }
                let whole = replies.filter { $0.count > 900_000 }
                #expect(whole.count >= 3)
                #expect(replies.count == 8)
                #expect(replies.allSatisfy { $0.count > 900_000 || $0.contains("error") })
            }
            // Without any room, a short reply is still sent, and a longer one is not.
            try await ServedFolder.serving({ $0.limits.undrainedBytesOfAllMax = 1 }) { served in
                #expect(try echo(served).error == nil)
                let peer = try RawPeer(served.path)
                try peer.write(#"{"method":"test.echo.Large","parameters":{"bytes":5000}}"# + "\0")
                #expect(await refusal(in: served) == crowded(.unreadBytes, 0, of: 1))
            }
        }

        @Test func `a process that finishes no call is refused long ones, and others are served`() async throws {
            try await ServedFolder.serving({ $0.limits.unfinishedBytesOfAllMax = 2 << 20 }) { served in
                let text = String(repeating: "x", count: 300_000)
                let beginning = #"{"method":"test.echo.Echo","parameters":{"text":""# + text
                let end = #""}}"# + "\0"
                for _ in 0..<3 {
                    let peers = try (0..<8).map { _ in try RawPeer(served.path) }
                    // Nothing more is read from a refused peer.
                    for peer in peers { try? peer.write(beginning) }
                    guard case .crowded(.unfinishedBytes, let most) = await refusal(in: served) else {
                        Issue.record("no refusal for unfinishedBytes")
                        return
                    }
                    #expect(most.process == getpid() && most.capacity == 2 << 20 && most.amount <= 1 << 20)
                    // Shorter than `pipelinedBytesMax`.
                    #expect(try echo(served).error == nil)
                    for peer in peers { try? peer.write(end) }
                    let replies = peers.compactMap { $0.messages(1).first }
                    // Three have room. Their room is free again for the next ones.
                    #expect(replies.filter { $0.count > 300_000 }.count == 3)
                }
            }
        }

        @Test func `the unfinished call of a process with more bytes gives way to another's`() async throws {
            try await ServedFolder.serving({ $0.limits.unfinishedBytesOfAllMax = 1 << 20 }) { served in
                // It ends when its connection is closed.
                let script = """
                    import socket, sys
                    peer = socket.socket(socket.AF_UNIX)
                    peer.connect(sys.argv[1])
                    peer.sendall(b"x" * 450000)
                    print("sent", flush=True)
                    print(peer.recv(65536), flush=True)
                    """
                let other = try Program("/usr/bin/python3", ["-c", script, served.path], environment: [:])
                try await other.output.first("what it leaves unfinished") { $0 == "sent" }
                let mine = try RawPeer(served.path)
                // More than half of what the other leaves, and less than it holds.
                let text = String(repeating: "x", count: 400_000)
                try mine.write(#"{"method":"test.echo.Echo","parameters":{"text":""# + text + #""}}"# + "\0")
                #expect(mine.messages(1).first?.contains(text) == true)
                #expect(try await other.ended() == .exited(0), "\(other.errorText)")
                #expect(other.outputText.contains("unfinishedBytes"), "\(other.outputText)")
            }
        }

        @Test func `silent peers and unfinished calls delay nobody`() async throws {
            try await ServedFolder.serving { served in
                let silent = try (0..<100).map { number in
                    let peer = try RawPeer(served.path)
                    if number.isMultiple(of: 2) { try peer.write(#"{"method":"test.echo."#) }
                    return peer
                }
                for _ in 0..<50 {
                    var client = try VarlinkConnection(path: served.path)
                    let reply = try client.call(
                        "test.echo.Echo",
                        parameters: #"{"text":"a"}"#,
                        timeoutMilliseconds: 120_000
                    )
                    #expect(reply.error == nil)
                }
                #expect(silent.count == 100)
            }
        }

        @Test func `garbage gets an error, and the connection ends`() async throws {
            try await ServedFolder.serving { served in
                let peer = try RawPeer(served.path)
                try peer.write("GET / HTTP/1.1\r\n\r\n\0")
                let messages = peer.messages()
                #expect(messages.count == 1)
                #expect(messages.first?.contains("not a Varlink call") == true)
            }
        }

        @Test(arguments: 0..<20) func `random bytes never end the server`(seed: UInt64) async throws {
            try await ServedFolder.serving({ $0.limits.messageBytesMax = 500 }) { served in
                var random = SplitMix64(seed: seed)
                for _ in 0..<20 {
                    let alphabet = Array(#"{}[]":,metdparsEchoxtl.1 "#.utf8) + [0, 0, 10, 255]
                    let bytes = (0..<Int.random(in: 1...700, using: &random)).compactMap { _ in
                        alphabet.randomElement(using: &random)
                    }
                    let peer = try RawPeer(served.path)
                    try? peer.write(String(decoding: bytes, as: UTF8.self))
                    peer.closeInput()
                    for message in peer.messages() {
                        #expect(JSONValue(message) != nil)
                    }
                }
                #expect(try echo(served).error == nil)
            }
        }
    }
}
