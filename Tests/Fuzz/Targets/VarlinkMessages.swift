internal import Foundation
@testable internal import Varlink

/// The stream of a Varlink peer, for the framer, the envelope and the connection's machine.
///
/// The first byte of an input says how read(2) cuts the rest into pieces. The pieces must not change the result.
enum VarlinkMessages {
    private static let limits: ServerLimits = {
        var limits = ServerLimits()
        // Small enough for a fuzzer to reach.
        limits.messageBytesMax = 512
        limits.pipelinedBytesMax = 64
        limits.undrainedBytesMax = 256
        limits.nestingMax = 6
        limits.valuesMax = 64
        return limits
    }()

    static func run(_ input: [UInt8]) {
        var stream = input
        let step = stream.takeByte() % 61 + 1
        let chunks = stride(from: 0, to: stream.count, by: step).map {
            Array(stream[$0..<min($0 + step, stream.count)])
        }
        let (expected, isTooLong) = messages(of: stream)
        for pieces in [chunks, [stream]] {
            let (found, failed) = frame(pieces)
            require(found == expected, "the framer gives what lies between the NULs, however the stream is split")
            require(failed == isTooLong, "the framer refuses a message that is too long, and no other")
        }
        for message in expected { checkEnvelope(message) }
        let whole = Peer(limits).converse([stream])
        let split = Peer(limits).converse(chunks)
        require(whole == split, "a connection answers the same calls, however the stream is split")
    }

    /// The framer's result, computed in the simplest way.
    private static func messages(of stream: [UInt8]) -> (messages: [[UInt8]], isTooLong: Bool) {
        var messages: [[UInt8]] = []
        let parts = stream.split(separator: 0, omittingEmptySubsequences: false).map(Array.init)
        for part in parts {
            guard part.count <= limits.messageBytesMax else { return (messages, true) }
            messages.append(part)
        }
        // The bytes after the last NUL are not a message yet.
        return (messages.dropLast(), false)
    }

    private static func frame(_ chunks: [[UInt8]]) -> (messages: [[UInt8]], failed: Bool) {
        var framer = MessageFramer(messageBytesMax: limits.messageBytesMax)
        var found: [[UInt8]] = []
        for chunk in chunks {
            framer.append(chunk)
            while let message = framer.next() { found.append(message) }
            if framer.isTooLong { return (found, true) }
        }
        return (found, false)
    }

    /// If we accept a message as a call, Foundation must be able to parse it as one.
    private static func checkEnvelope(_ message: [UInt8]) {
        guard let call = VarlinkCall(message: message, limits: limits) else { return }
        require(!(call.wantsMore && call.isOneway), "a call does not ask for several replies and for none")
        // Strings that nobody reads may contain anything, but Foundation refuses them.
        guard let object = try? JSONSerialization.jsonObject(with: Data(message)) as? [String: Any] else { return }
        require(object["method"] as? String == call.method, "the method is the one that Foundation reads")
        require(
            (object["parameters"] is [String: Any]) == (call.parameters != nil),
            "parameters are an object or absent"
        )
    }
}

/// A server and its service on one connection. It answers each call at once, according to the call's flags.
private struct Peer {
    private var machine: ConnectionMachine
    private var trace: [String] = []
    private var dispatched: UInt64 = 0
    private var hasEnded = false

    init(_ limits: ServerLimits) {
        machine = ConnectionMachine(limits: limits)
    }

    /// Feeds `chunks`, then the end of the stream, and returns the actions, without those that only announce a wait.
    func converse(_ chunks: [[UInt8]]) -> [String] {
        var peer = self
        peer.perform(peer.machine.accepted())
        for chunk in chunks where peer.machine.wantsInput { peer.perform(peer.machine.bytesReceived(chunk)) }
        peer.perform(peer.machine.inputClosed())
        require(peer.hasEnded, "a connection whose peer sends nothing more, and waits for nothing, is closed")
        return peer.trace
    }

    private mutating func perform(_ actions: [ConnectionMachine.Action]) {
        for (index, action) in actions.enumerated() {
            switch action {
            case .dispatch(let call, let number):
                require(index == actions.count - 1, "a call is handed over after all else is done")
                require(!hasEnded, "no call is served on a connection that ends")
                dispatched += 1
                require(number == dispatched, "calls are counted from 1")
                trace.append("call \(call.method)")
                answer(call, number)
            case .send(let bytes):
                require(bytes.last == 0, "what is sent ends with NUL")
                trace.append("send \(bytes.count)")
            case .refuse(let refusal): trace.append("refuse \(refusal)")
            case .closeWhenSent, .close: hasEnded = true
            case .abandonCall: trace.append("abandon")
            case .await: break
            }
        }
    }

    private mutating func answer(_ call: VarlinkCall, _ number: UInt64) {
        require(machine.isServing(number), "the call that was handed over is the one being served")
        require(!machine.isServing(number + 1), "no other call is being served")
        if call.wantsMore {
            perform(
                machine.replied(VarlinkReply(encoded: Array("{}".utf8), continues: true), to: number, undrainedBytes: 0)
            )
        }
        perform(machine.replied(VarlinkReply(encoded: Array("{}".utf8)), to: number, undrainedBytes: 0))
    }
}
