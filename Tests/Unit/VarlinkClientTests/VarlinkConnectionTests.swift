import Foundation
import Glibc
import Testing
import TextEncodings
import AuthRefreshInterface

@Suite(.timeLimit(.minutes(5))) struct VarlinkConnectionTests {
    /// The result of a call to a service that answers with `answer`.
    private func reply(
        _ service: ScriptedService,
        parameters: String = "{}",
        replyBytesMax: Int = 1000,
        timeoutMilliseconds: Int32? = 120_000
    ) throws(VarlinkClientError) -> VarlinkConnection.Reply {
        var connection = try VarlinkConnection(path: service.path, replyBytesMax: replyBytesMax)
        return try connection.call("a.B", parameters: parameters, timeoutMilliseconds: timeoutMilliseconds)
    }

    private func expect(
        _ error: VarlinkClientError,
        from service: ScriptedService,
        timeoutMilliseconds: Int32? = 120_000,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(throws: error, sourceLocation: sourceLocation) {
            _ = try reply(service, timeoutMilliseconds: timeoutMilliseconds)
        }
    }

    @Test func `a reply has its parameters`() throws {
        let reply = try reply(ScriptedService(#"{"parameters":{"a":1}}"# + "\0"))
        #expect(reply.parameters["a"]?.integer == 1)
        #expect(reply.error == nil)
    }

    @Test func `an error reply has its name and parameters`() throws {
        let reply = try reply(ScriptedService(#"{"error":"a.Failed","parameters":{"why":"so"}}"# + "\0"))
        #expect(reply.error == "a.Failed")
        #expect(reply.parameters["why"]?.string == "so")
    }

    @Test(arguments: ["{}", #"{"parameters":null,"error":null,"continues":null}"#])
    func `a reply without parameters is an empty one`(answer: String) throws {
        let reply = try reply(ScriptedService(answer + "\0"))
        #expect(reply.parameters.text == "{}")
        #expect(reply.error == nil)
    }

    @Test func `a reply in single bytes is put together`() throws {
        let answer = Array(#"{"parameters":{"a":"ä"}}"#.utf8) + [0]
        #expect(try reply(ScriptedService(answer.map { [$0] })).parameters["a"]?.string == "ä")
    }

    @Test func `several replies in one piece are returned one by one`() throws {
        let service = ScriptedService(
            #"{"parameters":{"n":1},"continues":true}"# + "\0" + #"{"parameters":{"n":2},"continues":true}"# + "\0"
                + #"{"error":"a.End"}"# + "\0" + #"{"parameters":{"n":3}}"# + "\0"
        )
        var connection = try VarlinkConnection(path: service.path)
        var seen: [String] = []
        try connection.callMore("a.B", timeoutMilliseconds: 120_000) { reply in
            seen.append(reply.error ?? reply.parameters.text)
            return true
        }
        #expect(seen == [#"{"n":1}"#, #"{"n":2}"#, "a.End"])
    }

    @Test func `a caller of many replies may stop early`() throws {
        let service = ScriptedService(String(repeating: #"{"parameters":{},"continues":true}"# + "\0", count: 3))
        var connection = try VarlinkConnection(path: service.path)
        var count = 0
        try connection.callMore("a.B", timeoutMilliseconds: 120_000) { _ in
            count += 1
            return count < 2
        }
        #expect(count == 2)
    }

    @Test(arguments: ["x", "[]", "1", #"{"parameters":[]}"#, #"{"error":1}"#, #"{"parameters":{}"#])
    func `an invalid reply is refused`(answer: String) {
        expect(.malformedReply, from: ScriptedService(answer + "\0"))
    }

    @Test func `a reply cut short is a closed connection`() {
        expect(.connectionClosed, from: ScriptedService(#"{"parameters":{}}"#))
        expect(.connectionClosed, from: ScriptedService(""))
    }

    @Test(arguments: [[String(repeating: "x", count: 1001)], [String(repeating: "x", count: 1001) + "\0"]])
    func `a reply over the limit is refused, ended or not`(pieces: [String]) {
        expect(.replyTooLarge(limit: 1000), from: ScriptedService(pieces.map { Array($0.utf8) }))
    }

    @Test func `a silent service is given up after the time limit`() {
        expect(.timedOut, from: ScriptedService("{", hangsUp: false), timeoutMilliseconds: 50)
    }

    @Test func `a call that the service does not read is given up after the time limit`() {
        let long = #"{"a":"\#(String(repeating: "x", count: 4 << 20))"}"#
        #expect(throws: VarlinkClientError.timedOut) {
            _ = try reply(ScriptedService([], accepts: false), parameters: long, timeoutMilliseconds: 50)
        }
    }

    @Test(arguments: [0, 50]) func `a service that accepts nobody is given up after the time limit`(
        limit: Int32
    ) throws {
        let service = ScriptedService([], accepts: false)
        let first = try VarlinkConnection(path: service.path)
        let second = try VarlinkConnection(path: service.path)
        #expect(throws: VarlinkClientError.timedOut) {
            _ = try VarlinkConnection(path: service.path, timeoutMilliseconds: limit)
        }
        let descriptors = [first.pollDescriptor, second.pollDescriptor]
        #expect(Set(descriptors).count == 2)
    }

    @Test func `a peer waits for room in the queue of a service`() throws {
        let service = ScriptedService([], accepts: false)
        let first = try VarlinkConnection(path: service.path)
        let second = try VarlinkConnection(path: service.path)
        service.acceptLater()
        let third = try VarlinkConnection(path: service.path, timeoutMilliseconds: 120_000)
        let descriptors = [first.pollDescriptor, second.pollDescriptor, third.pollDescriptor]
        #expect(Set(descriptors).count == 3)
    }

    @Test func `a missing socket and a socket without a listener are distinguished`() throws {
        let path = NSTemporaryDirectory() + "varlink-" + UUID().uuidString.prefix(8)
        #expect(throws: VarlinkClientError.notRunning(path: path, errno: ENOENT)) {
            _ = try VarlinkConnection(path: path)
        }
        #expect(FileManager.default.createFile(atPath: path, contents: nil))
        #expect(throws: VarlinkClientError.notRunning(path: path, errno: ECONNREFUSED)) {
            _ = try VarlinkConnection(path: path)
        }
        try FileManager.default.removeItem(atPath: path)
    }

    @Test func `a path too long for a socket is refused`() {
        let path = "/" + String(repeating: "x", count: 107)
        #expect(throws: VarlinkClientError.pathTooLong(path: path, limit: 107)) {
            _ = try VarlinkConnection(path: path)
        }
    }

    /// An address that begins with NUL is a name in the abstract namespace, where any user may listen.
    @Test(arguments: ["", "\0", "a\0b"]) func `an unusable path is refused`(path: String) {
        #expect(throws: VarlinkClientError.unusablePath(path: path)) {
            _ = try VarlinkConnection(path: path)
        }
    }
}
