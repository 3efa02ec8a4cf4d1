/// Decides what happens on one connection, without doing it.
///
/// It serves one call at a time, so replies keep the order of the calls. What the peer sends meanwhile waits in the
/// framer, up to `pipelinedBytesMax`. The methods are events; they return the actions to perform, in order.
package struct ConnectionMachine {
    /// The number of a call on this connection, from 1. A reply to any call except the current one is late and dropped.
    package typealias CallNumber = UInt64

    /// What the connection waits for, with a time limit.
    package enum Patience: Equatable {
        /// The first byte of a call.
        case idle
        /// The rest of a call.
        case restOfMessage
        /// The peer reading the last replies.
        case drain
    }

    package enum Action {
        case send([UInt8])
        /// Answer with an error instead of the service, and record why.
        case refuse(PeerFinding)
        /// Tell those who wait for it that the call ended without a last reply.
        case abandonCall
        /// Start the timer for this wait; nil stops the timer.
        case await(Patience?)
        /// Close as soon as the kernel has taken everything.
        case closeWhenSent
        case close
        /// Pass the call to the service. Always the last action.
        case dispatch(VarlinkCall, CallNumber)
    }

    private enum Phase {
        case ready
        case serving(isOneway: Bool, wantsMore: Bool)
        /// The last bytes are being sent; nothing is read any more.
        case draining
        case closed
    }

    private let limits: ServerLimits
    private var framer: MessageFramer
    private var phase = Phase.ready
    private var callNumber: CallNumber = 0
    private var isInputClosed = false
    private var isOutputBlocked = false
    private var isShuttingDown = false
    private var awaited: Patience?

    package init(limits: ServerLimits) {
        self.limits = limits
        framer = MessageFramer(messageBytesMax: limits.messageBytesMax)
    }

    /// Whether bytes should be read from the peer now.
    package var wantsInput: Bool {
        switch phase {
        case .ready: !isOutputBlocked
        case .serving: !isOutputBlocked && framer.bufferedBytes < limits.pipelinedBytesMax
        case .draining, .closed: false
        }
    }

    /// Whether call `number` was dispatched and has not had its last reply.
    package func isServing(_ number: CallNumber) -> Bool {
        guard case .serving = phase else { return false }
        return number == callNumber
    }

    /// Whether the current call wants no reply.
    package var isServingOneway: Bool {
        guard case .serving(isOneway: true, _) = phase else { return false }
        return true
    }

    /// Whether the current call may have several replies.
    package var isServingMore: Bool {
        guard case .serving(_, wantsMore: true) = phase else { return false }
        return true
    }

    // MARK: Events

    /// The peer was admitted and may call.
    package mutating func accepted() -> [Action] {
        settle()
    }

    /// The peer was refused; the connection ends after the error reply.
    package mutating func refused(_ refusal: PeerFinding) -> [Action] {
        refuse(refusal)
    }

    /// Bytes of an incomplete call, or of calls that wait behind the current one.
    package var unfinishedBytes: Int { framer.bufferedBytes }

    /// The peer sent bytes.
    ///
    /// - Parameter refusal: the error if the bytes do not complete a call; nil if there is room for them.
    package mutating func bytesReceived(_ bytes: [UInt8], orRefuse refusal: PeerFinding? = nil) -> [Action] {
        switch phase {
        case .ready:
            framer.append(bytes)
            let actions = settle()
            guard let refusal, case .ready = phase else { return actions }
            return actions + refuse(refusal)
        case .serving:
            framer.append(bytes)
            return []
        case .draining, .closed:
            return []
        }
    }

    /// The peer will send nothing more, but may still read.
    package mutating func inputClosed() -> [Action] {
        isInputClosed = true
        return settle()
    }

    /// The service has replied.
    ///
    /// - Parameters:
    ///   - undrainedBytes: how many bytes the peer has not read yet.
    ///   - refusal: the error that the caller gets instead if there is no room for the reply.
    package mutating func replied(
        _ reply: VarlinkReply,
        to number: CallNumber,
        undrainedBytes: Int,
        orRefuse refusal: PeerFinding? = nil
    ) -> [Action] {
        guard number == callNumber, case .serving(let isOneway, let wantsMore) = phase else { return [] }
        precondition(!reply.continues || wantsMore || isOneway, "several replies to a call that takes one")
        if reply.continues, isOneway { return [] }
        if let refusal, !isOneway { return refuse(refusal) }
        if reply.continues, undrainedBytes > 0, undrainedBytes + reply.message.count > limits.undrainedBytesMax {
            // Leaving out one change would give the subscriber a wrong picture. It gets an error and has to subscribe
            // again.
            return refuse(.repliesNotRead(limit: limits.undrainedBytesMax))
        }
        var actions: [Action] = []
        actions.reserveCapacity(2)
        if !isOneway { actions.append(.send(reply.message)) }
        if !reply.continues {
            phase = .ready
            settle(&actions)
        }
        return actions
    }

    /// The service gives up the call. Its caller has to ask the next server. Calls that it sent meanwhile were never
    /// started.
    package mutating func hungUp(_ number: CallNumber) -> [Action] {
        guard isServing(number) else { return [] }
        return cut()
    }

    /// The peer has so much to read that we stop reading from it.
    package mutating func outputBlocked() {
        isOutputBlocked = true
    }

    package mutating func outputDrained() -> [Action] {
        isOutputBlocked = false
        return settle()
    }

    /// The time limit of the last `Action.await` has passed.
    package mutating func deadlineReached() -> [Action] {
        switch awaited {
        case .idle, .drain:
            phase = .closed
            return [.close]
        case .restOfMessage:
            return refuse(.messageIncomplete)
        case nil:
            return []
        }
    }

    /// The server will end soon. No new call is started; the current call or stream continues.
    package mutating func callsEnded() -> [Action] {
        isShuttingDown = true
        return settle()
    }

    /// The server is ending. The current call gets its reply. A stream, which would never end, is cut between two
    /// replies.
    package mutating func shutdownRequested() -> [Action] {
        isShuttingDown = true
        guard case .serving(_, wantsMore: true) = phase else { return settle() }
        return cut()
    }

    /// The connection is gone.
    package mutating func disconnected() -> [Action] {
        defer { phase = .closed }
        guard case .serving = phase else { return [] }
        return [.abandonCall]
    }

    // MARK: Steps

    private mutating func settle() -> [Action] {
        var actions: [Action] = []
        // Capacity for a call and for stopping the timer.
        actions.reserveCapacity(2)
        settle(&actions)
        return actions
    }

    /// Starts the next call if one is complete, and ends the connection if none can follow.
    private mutating func settle(_ actions: inout [Action]) {
        guard case .ready = phase else { return }
        guard !isShuttingDown else { return end(&actions) }
        guard !isOutputBlocked else { return awaitAnew(&actions) }
        if let message = framer.next() {
            guard let call = VarlinkCall(message: message, limits: limits) else {
                actions += refuse(.messageMalformed)
                return
            }
            callNumber += 1
            phase = .serving(isOneway: call.isOneway, wantsMore: call.wantsMore)
            awaitAnew(&actions)
            actions.append(.dispatch(call, callNumber))
        } else if framer.isTooLong {
            actions += refuse(.messageTooLong(limit: limits.messageBytesMax))
        } else if isInputClosed {
            if framer.bufferedBytes > 0 {
                actions += refuse(.messageIncomplete)
            } else {
                end(&actions)
            }
        } else {
            awaitAnew(&actions)
        }
    }

    /// Ends the current call without a last reply, and the connection.
    private mutating func cut() -> [Action] {
        var actions: [Action] = [.abandonCall]
        end(&actions)
        return actions
    }

    private mutating func end(_ actions: inout [Action]) {
        phase = .draining
        actions.append(.closeWhenSent)
        awaitAnew(&actions)
    }

    private mutating func refuse(_ refusal: PeerFinding) -> [Action] {
        if case .serving = phase { return [.refuse(refusal)] + cut() }
        var actions: [Action] = [.refuse(refusal)]
        end(&actions)
        return actions
    }

    private mutating func awaitAnew(_ actions: inout [Action]) {
        let next: Patience? =
            switch phase {
            case .ready: framer.bufferedBytes > 0 ? .restOfMessage : .idle
            case .draining: .drain
            case .serving, .closed: nil
            }
        guard next != awaited else { return }
        awaited = next
        actions.append(.await(next))
    }
}

/// Splits a stream of bytes into messages that each end with a NUL.
///
/// The work is linear in the number of bytes, however they arrive. No byte is searched twice, and consumed bytes are
/// removed only when they are at least half of the buffer.
package struct MessageFramer {
    private let messageBytesMax: Int
    /// Whether the next message is longer than the limit. The rest of the stream cannot be read, and the connection must
    /// be closed.
    package private(set) var isTooLong = false
    private var buffer: [UInt8] = []
    /// The start of the bytes that were not returned yet.
    private var start = 0
    /// Up to here there is no NUL.
    private var searched = 0

    package init(messageBytesMax: Int) {
        self.messageBytesMax = messageBytesMax
    }

    /// The number of bytes that were appended and not returned yet.
    package var bufferedBytes: Int { buffer.count - start }

    /// Appends `bytes`; `next()` returns the messages that they complete.
    package mutating func append(_ bytes: [UInt8]) {
        guard bufferedBytes > 0 else {
            buffer = bytes
            (start, searched) = (0, 0)
            return
        }
        if start > buffer.count / 2 {
            buffer.removeFirst(start)
            searched -= start
            start = 0
        }
        buffer += bytes
    }

    /// The next complete message without its NUL; nil if it is not complete yet, or if it is too long.
    package mutating func next() -> [UInt8]? {
        guard let end = buffer[searched...].firstIndex(of: 0) else {
            searched = buffer.count
            isTooLong = bufferedBytes > messageBytesMax
            return nil
        }
        isTooLong = end - start > messageBytesMax
        guard !isTooLong else { return nil }
        defer { (start, searched) = buffer.isEmpty ? (0, 0) : (end + 1, end + 1) }
        guard end == buffer.count - 1 else { return Array(buffer[start..<end]) }
        // The last message of the buffer, and nearly always the only one. It takes over the buffer without a copy.
        var message = buffer
        buffer = []
        message.removeLast()
        if start > 0 { message.removeFirst(start) }
        return message
    }
}
