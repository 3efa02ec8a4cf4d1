import Testing

@testable import Varlink

@Suite struct VarlinkCallTests {
    private struct Query: Decodable, Equatable {
        struct Window: Decodable, Equatable {
            let fromUSec: Int64
        }
        let account: String
        let scopes: [String]?
        let force: Bool?
        let window: Window?
        let windows: [Window]?
        let ratio: Double?
        let small: UInt8?
    }

    private func decode(_ parameters: String) throws(VarlinkError) -> Query {
        let message = #"{"method":"a.B","parameters":"# + parameters + "}"
        guard let call = VarlinkCall(message: Array(message.utf8), limits: ServerLimits()) else {
            Issue.record("not a call: \(message)")
            throw .permissionDenied
        }
        return try call.decodeParameters()
    }

    @Test func `parameters of every kind are decoded`() throws {
        let query = try decode(
            #"""
             {"account":"a\u00e4\ud83d\ude00\n","scopes":["x","y"],"force":true,"window":{"fromUSec":9007199254740993},
              "windows":[{"fromUSec":-1}],"ratio":1.5e1,"small":255}
            """#
        )
        #expect(query.account == "aä😀\n")
        #expect(query.scopes == ["x", "y"])
        #expect(query.force == true)
        #expect(query.window?.fromUSec == 9_007_199_254_740_993)
        #expect(query.windows == [Query.Window(fromUSec: -1)])
        #expect(query.ratio == 15)
        #expect(query.small == 255)
    }

    @Test func `absent and null are the same for an optional parameter`() throws {
        #expect(try decode(#"{"account":"a","force":null}"#) == decode(#"{"account":"a"}"#))
    }

    @Test(arguments: [
        (#"{}"#, "account"),
        (#"{"account":1}"#, "account"),
        (#"{"account":null}"#, "account"),
        (#"{"account":"a","acount":"b"}"#, "acount"),
        (#"{"account":"a","account":"b"}"#, "account"),
        (#"{"account":"a","force":"yes"}"#, "force"),
        (#"{"account":"a","force":1}"#, "force"),
        (#"{"account":"a","scopes":"x"}"#, "scopes"),
        (#"{"account":"a","scopes":["x",2]}"#, "scopes[1]"),
        (#"{"account":"a","window":{}}"#, "window.fromUSec"),
        (#"{"account":"a","window":{"fromUSec":1.5}}"#, "window.fromUSec"),
        (#"{"account":"a","window":{"fromUSec":1,"to":2}}"#, "window.to"),
        (#"{"account":"a","windows":[{"fromUSec":1},{"fromUSec":1,"to":2}]}"#, "windows[1].to"),
        (#"{"account":"a","small":256}"#, "small"),
        (#"{"account":"a","small":-1}"#, "small"),
        (#"{"account":"\ud83d"}"#, "account"),
        (#"{"account":"\q"}"#, "account"),
    ]) func `the invalid parameter is named`(parameters: String, name: String) {
        #expect(throws: VarlinkError.invalidParameter(name)) { _ = try decode(parameters) }
    }

    @Test func `a method without parameters takes none`() throws {
        struct Nothing: Decodable {}
        for (parameters, name) in [("{}", nil), (#"{"acount":"b"}"#, "acount")] {
            let message = #"{"method":"a.B","parameters":"# + parameters + "}"
            let call = try #require(VarlinkCall(message: Array(message.utf8), limits: ServerLimits()))
            guard let name else {
                _ = try call.decodeParameters(as: Nothing.self)
                continue
            }
            #expect(throws: VarlinkError.invalidParameter(name)) { _ = try call.decodeParameters(as: Nothing.self) }
        }
    }

    @Test func `a call without parameters decodes as one with none`() {
        guard let call = VarlinkCall(message: Array(#"{"method":"a.B"}"#.utf8), limits: ServerLimits()) else {
            Issue.record("not a call")
            return
        }
        #expect(throws: VarlinkError.invalidParameter("account")) {
            _ = try call.decodeParameters(as: Query.self)
        }
    }

    @Test func `the number of values in a call is limited`() throws {
        var limits = ServerLimits()
        limits.valuesMax = 6
        let four = #"{"method":"a.B","x":[1]}"#
        let five = #"{"method":"a.B","x":[1,2]}"#
        #expect(VarlinkCall(message: Array(four.utf8), limits: limits) != nil)
        #expect(VarlinkCall(message: Array(five.utf8), limits: limits) == nil)
    }

    @Test func `a too deeply nested message is not a call`() {
        let limits = ServerLimits()
        func call(nested depth: Int) -> VarlinkCall? {
            let value = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
            return VarlinkCall(message: Array((#"{"method":"a.B","x":"# + value + "}").utf8), limits: limits)
        }
        #expect(call(nested: limits.nestingMax - 1) != nil)
        #expect(call(nested: limits.nestingMax) == nil)
    }

    @Test func `the interface is the part before the last dot`() {
        let call = VarlinkCall(message: Array(#"{"method":"io.example.One.Do"}"#.utf8), limits: ServerLimits())
        #expect(call?.interface == "io.example.One")
    }

    @Test func `replies and errors have the bytes of the protocol`() {
        let text = { (reply: VarlinkReply) in String(decoding: reply.message, as: UTF8.self) }
        #expect(text(VarlinkReply(encoded: Array(#"{"a":1}"#.utf8))) == "{\"parameters\":{\"a\":1}}\0")
        #expect(
            text(VarlinkReply(encoded: Array("{}".utf8), continues: true))
                == "{\"parameters\":{},\"continues\":true}\0"
        )
        #expect(
            text(VarlinkReply(.invalidParameter("a\"b")))
                == #"{"error":"org.varlink.service.InvalidParameter","parameters":{"parameter":"a\"b"}}"# + "\0"
        )
    }

    @Test(arguments: [
        #"{"method":"a.B","method":"a.C"}"#, #"{"method":"a.B","method":null}"#, #"{"method":null,"method":"a.B"}"#,
        #"{"method":"a.B","parameters":{},"parameters":null}"#, #"{"method":"a.B","more":false,"more":true}"#,
        #"{"method":"a.B","oneway":true,"\u006fneway":false}"#,
    ])
    func `a repeated member makes the call invalid, whatever its values`(_ message: String) {
        #expect(VarlinkCall(message: Array(message.utf8), limits: ServerLimits()) == nil)
    }
}
