import Testing
import Varlink

@Suite struct ConnectionMachineTests {
    private static let limits: ServerLimits = {
        var limits = ServerLimits()
        limits.messageBytesMax = 200
        limits.pipelinedBytesMax = 100
        limits.undrainedBytesMax = 100
        return limits
    }()

    private var machine = ConnectionMachine(limits: Self.limits)

    private let plain = #"{"method":"a.B"}"# + "\0"
    private let more = #"{"method":"a.B","more":true}"# + "\0"
    private let oneway = #"{"method":"a.B","oneway":true}"# + "\0"
    private let reply = VarlinkReply(encoded: Array("{}".utf8))
    private let partReply = VarlinkReply(encoded: Array("{}".utf8), continues: true)

    /// The actions in short words.
    private func told(_ actions: [ConnectionMachine.Action]) -> [String] {
        actions.map { action in
            switch action {
            case .send(let message): "send \(message.count)"
            case .refuse(let refusal): "refuse \(refusal)"
            case .abandonCall: "abandon"
            case .await(let patience): "await \(patience.map { "\($0)" } ?? "nothing")"
            case .closeWhenSent: "closeWhenSent"
            case .close: "close"
            case .dispatch(let call, let number): "dispatch \(call.method) \(number)"
            }
        }
    }

    private mutating func receive(_ text: String) -> [String] {
        told(machine.bytesReceived(Array(text.utf8)))
    }

    private mutating func answer(_ reply: VarlinkReply, _ number: UInt64, undrained: Int = 0) -> [String] {
        told(machine.replied(reply, to: number, undrainedBytes: undrained))
    }

    @Test mutating func `a new connection waits for a call`() {
        #expect(told(machine.accepted()) == ["await idle"])
        #expect(machine.wantsInput)
    }

    @Test mutating func `a call is dispatched, answered, and the next one awaited`() {
        _ = machine.accepted()
        #expect(receive(plain) == ["await nothing", "dispatch a.B 1"])
        #expect(machine.isServing(1))
        #expect(answer(reply, 1) == ["send 18", "await idle"])
        #expect(!machine.isServing(1))
    }

    @Test mutating func `a call that arrives in pieces has its own time limit`() {
        _ = machine.accepted()
        #expect(receive("{\"method\"") == ["await restOfMessage"])
        #expect(receive(":\"a.B\"") == [])
        #expect(receive("}\0") == ["await nothing", "dispatch a.B 1"])
    }

    @Test mutating func `a call whose rest does not arrive is refused, then the connection closed`() {
        _ = machine.accepted()
        _ = receive("{")
        #expect(
            told(machine.deadlineReached()) == [
                "refuse the rest of a call did not arrive", "closeWhenSent", "await drain",
            ]
        )
        #expect(told(machine.deadlineReached()) == ["close"])
    }

    @Test mutating func `an idle connection is closed without a word`() {
        _ = machine.accepted()
        #expect(told(machine.deadlineReached()) == ["close"])
    }

    @Test mutating func `a call that is given up ends without a reply, and later calls are not started`() {
        _ = machine.accepted()
        #expect(receive(plain + plain) == ["await nothing", "dispatch a.B 1"])
        #expect(told(machine.hungUp(2)) == [])
        #expect(told(machine.hungUp(1)) == ["abandon", "closeWhenSent", "await drain"])
        #expect(answer(reply, 1) == [])
        #expect(!machine.wantsInput)
    }

    @Test mutating func `a call being served has no time limit`() {
        _ = machine.accepted()
        _ = receive(plain)
        #expect(told(machine.deadlineReached()) == [])
    }

    @Test mutating func `pipelined calls wait for the previous one`() {
        _ = machine.accepted()
        #expect(receive(plain + plain + plain) == ["await nothing", "dispatch a.B 1"])
        #expect(answer(reply, 1) == ["send 18", "dispatch a.B 2"])
        #expect(answer(reply, 2) == ["send 18", "dispatch a.B 3"])
        #expect(answer(reply, 3) == ["send 18", "await idle"])
    }

    @Test mutating func `no more is read once enough calls wait`() {
        _ = machine.accepted()
        _ = receive(plain)
        #expect(machine.wantsInput)
        // More than `pipelinedBytesMax`.
        _ = receive(String(repeating: plain, count: 6))
        #expect(!machine.wantsInput)
        _ = answer(reply, 1)
        #expect(machine.wantsInput)
    }

    @Test mutating func `while replies are unread, nothing is read and no call is started`() {
        _ = machine.accepted()
        _ = receive(plain + plain)
        machine.outputBlocked()
        #expect(!machine.wantsInput)
        #expect(answer(reply, 1) == ["send 18", "await restOfMessage"])
        #expect(told(machine.outputDrained()) == ["await nothing", "dispatch a.B 2"])
    }

    @Test mutating func `a oneway call gets no reply, not even an error`() {
        _ = machine.accepted()
        #expect(receive(oneway + plain) == ["await nothing", "dispatch a.B 1"])
        #expect(answer(partReply, 1) == [])
        #expect(answer(VarlinkReply(.permissionDenied), 1) == ["dispatch a.B 2"])
    }

    @Test mutating func `a stream continues until its last reply`() {
        _ = machine.accepted()
        _ = receive(more)
        #expect(answer(partReply, 1) == ["send 35"])
        #expect(answer(partReply, 1) == ["send 35"])
        #expect(answer(reply, 1) == ["send 18", "await idle"])
    }

    @Test mutating func `an error ends a stream`() {
        _ = machine.accepted()
        _ = receive(more)
        #expect(answer(VarlinkReply(.permissionDenied), 1).last == "await idle")
        #expect(answer(partReply, 1) == [])
    }

    @Test mutating func `an unread stream ends with an error and never has a gap`() {
        _ = machine.accepted()
        _ = receive(more)
        #expect(answer(partReply, 1, undrained: 65) == ["send 35"])
        #expect(
            answer(partReply, 1, undrained: 66)
                == [
                    "refuse the caller leaves more than 100 bytes of replies unread", "abandon", "closeWhenSent",
                    "await drain",
                ]
        )
        #expect(answer(partReply, 1) == [])
    }

    @Test mutating func `a reply larger than the limit is sent if nothing else waits`() {
        _ = machine.accepted()
        _ = receive(more)
        let large = VarlinkReply(
            encoded: Array("{\"a\":\"\(String(repeating: "x", count: 500))\"}".utf8),
            continues: true
        )
        #expect(answer(large, 1) == ["send \(large.message.count)"])
    }

    @Test mutating func `late and repeated replies are dropped`() {
        _ = machine.accepted()
        _ = receive(plain)
        #expect(answer(reply, 7) == [])
        _ = answer(reply, 1)
        #expect(answer(reply, 1) == [])
        _ = receive(plain)
        #expect(answer(reply, 1) == [])
        #expect(machine.isServing(2))
    }

    @Test mutating func `a peer that has closed its side still gets its reply`() {
        _ = machine.accepted()
        _ = receive(plain + plain)
        #expect(told(machine.inputClosed()) == [])
        #expect(answer(reply, 1) == ["send 18", "dispatch a.B 2"])
        #expect(answer(reply, 2) == ["send 18", "closeWhenSent", "await drain"])
    }

    @Test mutating func `a call cut off by the end of input gets an error`() {
        _ = machine.accepted()
        _ = receive("{\"meth")
        #expect(
            told(machine.inputClosed()) == ["refuse the rest of a call did not arrive", "closeWhenSent", "await drain"]
        )
    }

    @Test mutating func `a connection that ends between calls is closed`() {
        _ = machine.accepted()
        #expect(told(machine.inputClosed()) == ["closeWhenSent", "await drain"])
    }

    @Test mutating func `after an overlong call nothing more is read`() {
        _ = machine.accepted()
        #expect(
            receive(String(repeating: "x", count: 201))
                == ["refuse a call is longer than 200 bytes", "closeWhenSent", "await drain"]
        )
        #expect(!machine.wantsInput)
        #expect(receive(plain) == [])
    }

    @Test(arguments: [
        "", "x", "[]", "{}", "null", #"{"method":1}"#, #"{"method":"a.B","parameters":[]}"#,
        #"{"method":"a.B","more":1}"#,
        #"{"method":"a.B","more":true,"oneway":true}"#, #"{"method":"a.B"}x"#, #"{"method":"a.B",}"#,
        #"{"method":"a.B","method":"a.C"}"#, String(repeating: "[", count: 100),
    ]) mutating func `an invalid call is refused`(message: String) {
        _ = machine.accepted()
        #expect(receive(message + "\0").first == "refuse what arrived is not a Varlink call")
    }

    @Test mutating func `unknown members and nulls of the envelope are ignored`() {
        _ = machine.accepted()
        let call = #"{"method":"a.B","parameters":null,"more":null,"future":[1]}"#
        #expect(receive(call + "\0").last == "dispatch a.B 1")
    }

    @Test mutating func `a connection lost in the middle of a call abandons it once`() {
        _ = machine.accepted()
        _ = receive(plain)
        #expect(told(machine.disconnected()) == ["abandon"])
        #expect(told(machine.disconnected()) == [])
        #expect(answer(reply, 1) == [])
    }

    @Test mutating func `a connection lost between calls abandons nothing`() {
        _ = machine.accepted()
        #expect(told(machine.disconnected()) == [])
    }

    @Test mutating func `shutdown lets the current call finish and starts no other`() {
        _ = machine.accepted()
        _ = receive(plain + plain)
        #expect(told(machine.shutdownRequested()) == [])
        #expect(answer(reply, 1) == ["send 18", "closeWhenSent", "await drain"])
    }

    @Test mutating func `after endCalls no call is started, and the current one continues`() {
        _ = machine.accepted()
        _ = receive(more + plain)
        #expect(told(machine.callsEnded()) == [])
        #expect(answer(partReply, 1) == ["send 35"])
        #expect(answer(reply, 1) == ["send 18", "closeWhenSent", "await drain"])
    }

    @Test mutating func `shutdown cuts a stream between two replies`() {
        _ = machine.accepted()
        _ = receive(more)
        #expect(told(machine.shutdownRequested()) == ["abandon", "closeWhenSent", "await drain"])
    }

    @Test mutating func `shutdown closes an idle connection`() {
        _ = machine.accepted()
        #expect(told(machine.shutdownRequested()) == ["closeWhenSent", "await drain"])
    }
}
