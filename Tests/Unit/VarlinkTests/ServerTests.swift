import Testing
import Varlink
import TextEncodings
import AuthRefreshInterface

extension SocketTests {
    /// The server as a client sees it over a real socket.
    @Suite struct ServerTests {
        @Test func `a call gets its reply`() async throws {
            try await ServedFolder.serving { served in
                var client = try VarlinkConnection(path: served.path)
                let reply = try client.call(
                    "test.echo.Echo",
                    parameters: #"{"text":"ä\n"}"#,
                    timeoutMilliseconds: 120_000
                )
                #expect(reply.error == nil)
                #expect(reply.parameters["text"]?.string == "ä\n")
                #expect(!reply.continues)
            }
        }

        @Test func `one connection serves many calls, answered on any thread`() async throws {
            try await ServedFolder.serving { served in
                var client = try VarlinkConnection(path: served.path)
                for number in 0..<200 {
                    let method = number.isMultiple(of: 2) ? "test.echo.Echo" : "test.echo.EchoLater"
                    let reply = try client.call(
                        method,
                        parameters: #"{"text":"\#(number)"}"#,
                        timeoutMilliseconds: 120_000
                    )
                    #expect(reply.parameters["text"]?.string == "\(number)")
                }
            }
        }

        @Test func `pipelined calls are answered in order, more of them than may wait`() async throws {
            try await ServedFolder.serving({ $0.limits.pipelinedBytesMax = 300 }) { served in
                let peer = try RawPeer(served.path)
                let numbers = 0..<500
                for number in numbers {
                    let method = number.isMultiple(of: 3) ? "EchoLater" : "Echo"
                    try peer.write(#"{"method":"test.echo.\#(method)","parameters":{"text":"\#(number)"}}"# + "\0")
                }
                #expect(peer.messages(numbers.count) == numbers.map { #"{"parameters":{"text":"\#($0)"}}"# })
            }
        }

        @Test func `the service describes itself`() async throws {
            try await ServedFolder.serving { served in
                var client = try VarlinkConnection(path: served.path)
                let info = try client.call("org.varlink.service.GetInfo", timeoutMilliseconds: 120_000).parameters
                #expect(info["product"]?.string == "Served")
                #expect(info["interfaces"]?.elements?.map(\.string) == ["org.varlink.service", "test.echo"])
                for interface in ["org.varlink.service", "test.echo"] {
                    let description = try client.call(
                        "org.varlink.service.GetInterfaceDescription",
                        parameters: #"{"interface":"\#(interface)"}"#,
                        timeoutMilliseconds: 120_000
                    )
                    #expect(description.parameters["description"]?.string?.contains("interface \(interface)\n") == true)
                }
            }
        }

        @Test(arguments: [
            ("test.none.Do", "{}", "InterfaceNotFound", #"{"interface":"test.none"}"#),
            ("test.echo.None", "{}", "MethodNotFound", #"{"method":"test.echo.None"}"#),
            ("org.varlink.service.None", "{}", "MethodNotFound", #"{"method":"org.varlink.service.None"}"#),
            ("None", "{}", "InvalidParameter", #"{"parameter":"method"}"#),
            ("test.echo.Echo", "{}", "InvalidParameter", #"{"parameter":"text"}"#),
            ("test.echo.Echo", #"{"text":"a","txt":"b"}"#, "InvalidParameter", #"{"parameter":"txt"}"#),
            ("org.varlink.service.GetInfo", #"{"x":1}"#, "InvalidParameter", #"{"parameter":"x"}"#),
            (
                "org.varlink.service.GetInterfaceDescription", #"{"interface":"x.y"}"#, "InterfaceNotFound",
                #"{"interface":"x.y"}"#
            ),
            ("test.echo.Stream", #"{"count":1,"bytes":1}"#, "ExpectedMore", "{}"),
        ]) func `a mistaken call gets an error that names the mistake`(
            method: String,
            parameters: String,
            error: String,
            told: String
        ) async throws {
            try await ServedFolder.serving { served in
                var client = try VarlinkConnection(path: served.path)
                let reply = try client.call(method, parameters: parameters, timeoutMilliseconds: 120_000)
                #expect(reply.error == "org.varlink.service.\(error)")
                #expect(reply.parameters.text == told)
            }
        }

        @Test func `an upgrade is refused and the connection stays open`() async throws {
            try await ServedFolder.serving { served in
                let peer = try RawPeer(served.path)
                try peer.write(#"{"method":"test.echo.Echo","upgrade":true}"# + "\0")
                try peer.write(#"{"method":"test.echo.Echo","parameters":{"text":"a"}}"# + "\0")
                #expect(peer.messages(2).map { $0.contains(#""parameter":"upgrade""#) } == [true, false])
            }
        }

        @Test func `a stream arrives in order and ends`() async throws {
            try await ServedFolder.serving { served in
                var client = try VarlinkConnection(path: served.path)
                var numbers: [Int64?] = []
                try client.callMore(
                    "test.echo.Stream",
                    parameters: #"{"count":300,"bytes":10}"#,
                    timeoutMilliseconds: 120_000
                ) { reply in
                    numbers.append(reply.parameters["number"]?.integer)
                    return true
                }
                #expect(numbers == (1...300).map(Int64.init))
                let after = try client.call(
                    "test.echo.Echo",
                    parameters: #"{"text":"a"}"#,
                    timeoutMilliseconds: 120_000
                )
                #expect(after.error == nil)
            }
        }

        @Test func `a oneway call is carried out without a reply`() async throws {
            try await ServedFolder.serving { served in
                var client = try VarlinkConnection(path: served.path)
                try client.send("test.echo.Echo", parameters: #"{"text":"unheard"}"#, mode: .oneway)
                let reply = try client.call(
                    "test.echo.Echo",
                    parameters: #"{"text":"heard"}"#,
                    timeoutMilliseconds: 120_000
                )
                #expect(reply.parameters["text"]?.string == "heard")
            }
        }

        @Test func `a oneway call followed at once by the end of the connection is still served`() async throws {
            try await ServedFolder.serving { served in
                do {
                    var client = try VarlinkConnection(path: served.path)
                    try client.send("test.echo.Hold", parameters: "{}", mode: .oneway)
                }
                var calls = served.held.makeAsyncIterator()
                #expect(await calls.next() != nil)
            }
        }

        @Test func `a peer that has closed its input gets all replies, then the end`() async throws {
            try await ServedFolder.serving { served in
                let peer = try RawPeer(served.path)
                let call = #"{"method":"test.echo.EchoLater","parameters":{"text":"a"}}"# + "\0"
                try peer.write(call + call + call)
                peer.closeInput()
                #expect(peer.messages().count == 3)
            }
        }

        @Test func `the service is told when a peer has gone`() async throws {
            try await ServedFolder.serving { served in
                let (gone, telling) = AsyncStream<Void>.makeStream()
                var calls = served.held.makeAsyncIterator()
                var responder: VarlinkResponder?
                do {
                    var client = try VarlinkConnection(path: served.path)
                    try client.send("test.echo.Hold", parameters: "{}", mode: .more)
                    responder = await calls.next()
                    responder?.onDisconnect { telling.yield() }
                    #expect(responder?.isConnected == true)
                }
                var endings = gone.makeAsyncIterator()
                await endings.next()
                #expect(responder?.isConnected == false)
                // A late caller is told at once.
                responder?.onDisconnect { telling.yield() }
                await endings.next()
                responder?.reply(["text": "nobody reads this"])
            }
        }

        @Test func `a hung-up call gets no reply, and the service is told`() async throws {
            try await ServedFolder.serving { served in
                let (gone, telling) = AsyncStream<Void>.makeStream()
                var calls = served.held.makeAsyncIterator()
                var client = try VarlinkConnection(path: served.path)
                try client.send("test.echo.Hold", parameters: "{}", mode: .one)
                let responder = await calls.next()
                responder?.onDisconnect { telling.yield() }
                responder?.hangUp()
                #expect(throws: VarlinkClientError.connectionClosed) {
                    _ = try client.receive(timeoutMilliseconds: 120_000)
                }
                var endings = gone.makeAsyncIterator()
                await endings.next()
                responder?.reply(["text": "too late"])
            }
        }

        @Test func `a call is not abandoned after its last reply`() async throws {
            try await ServedFolder.serving { served in
                let (gone, telling) = AsyncStream<Int>.makeStream()
                var calls = served.held.makeAsyncIterator()
                do {
                    var client = try VarlinkConnection(path: served.path)
                    try client.send("test.echo.Hold", parameters: "{}", mode: .one)
                    let first = await calls.next()
                    first?.onDisconnect { telling.yield(1) }
                    first?.reply(["text": "done"])
                    _ = try client.receive(timeoutMilliseconds: 120_000)
                    try client.send("test.echo.Hold", parameters: "{}", mode: .one)
                    await calls.next()?.onDisconnect { telling.yield(2) }
                }
                var endings = gone.makeAsyncIterator()
                #expect(await endings.next() == 2)
            }
        }

        @Test func `the service knows who calls`() async throws {
            try await ServedFolder.serving { served in
                var client = try VarlinkConnection(path: served.path)
                try client.send("test.echo.Hold", parameters: "{}", mode: .one)
                var calls = served.held.makeAsyncIterator()
                let peer = await calls.next()?.peer
                #expect(peer == .ofThisProcess)
            }
        }

        @Test func `shutdown waits for a reply in flight and ends streams`() async throws {
            let served = ServedFolder()
            try await served.server.start()
            var calls = served.held.makeAsyncIterator()
            var client = try VarlinkConnection(path: served.path)
            try client.send("test.echo.Hold", parameters: "{}", mode: .one)
            let responder = await calls.next()
            var subscriber = try VarlinkConnection(path: served.path)
            try subscriber.send("test.echo.Hold", parameters: "{}", mode: .more)
            let (gone, telling) = AsyncStream<Void>.makeStream()
            await calls.next()?.onDisconnect { telling.yield() }

            await served.server.stopAccepting()
            async let ended: Void = served.end()
            // The end of the stream shows that the shutdown has begun. The reply comes only after that.
            var endings = gone.makeAsyncIterator()
            await endings.next()
            responder?.reply(["text": "just in time"])
            await ended
            #expect(try client.receive(timeoutMilliseconds: 120_000).parameters["text"]?.string == "just in time")
            #expect(throws: VarlinkClientError.connectionClosed) {
                _ = try subscriber.receive(timeoutMilliseconds: 120_000)
            }
            #expect(throws: VarlinkClientError.notRunning(path: served.path, errno: 2)) {
                _ = try VarlinkConnection(path: served.path)
            }
        }

        @Test func `shutdown does not wait forever`() async throws {
            let served = ServedFolder { $0.limits.shutdownTimeout = .milliseconds(50) }
            try await served.server.start()
            var calls = served.held.makeAsyncIterator()
            var client = try VarlinkConnection(path: served.path)
            try client.send("test.echo.Hold", parameters: "{}", mode: .one)
            _ = await calls.next()
            await served.end()
            #expect(throws: VarlinkClientError.connectionClosed) {
                _ = try client.receive(timeoutMilliseconds: 120_000)
            }
        }
    }
}
