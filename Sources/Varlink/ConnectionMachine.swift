/// What happens on one connection, decided without doing it.
///
/// One call is served at a time, so replies keep the order of the calls; what the peer sends meanwhile waits in the framer,
/// up to `pipelinedBytesMax`. Methods are what has happened; they return what to do, in order.
package struct ConnectionMachine {
    /// Which call of the connection, counted from 1; a reply to any but the one being served is late and dropped.
    package typealias CallNumber = UInt64

    /// What the connection waits for, with a limit of time.
    package enum Patience: Equatable {
        /// The first byte of a call.
        case idle
        /// The rest of a call.
        case restOfMessage
        /// The peer to read what it was sent last.
        case drain
    }

    package enum Action {
        case send([UInt8])
        /// Answer in the service's place, and record why.
        case refuse(Refusal)
        /// Tell those who wait for it that the call has ended without a last reply.
        case abandonCall
        /// Start the clock for what is awaited now; nil stops it.
        case await(Patience?)
        /// Close as soon as all that was sent has been taken by the kernel.
        case closeWhenSent
        case close
        /// Hand the call to the service. Always the last action.
        case dispatch(VarlinkCall, CallNumber)
    }

    private enum Phase {
        case ready
        case serving(isOneway: Bool, wantsMore: Bool)
        /// The last bytes are on their way; nothing is read any more.
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

    /// Whether call `number` has been dispatched and not had its last reply.
    package func isServing(_ number: CallNumber) -> Bool {
        guard case .serving = phase else { return false }
        return number == callNumber
    }

    /// Whether a call is under way whose caller takes no reply.
    package var isServingOneway: Bool {
        guard case .serving(isOneway: true, _) = phase else { return false }
        return true
    }

    // MARK: Events

    /// The connection stands and may call.
    package mutating func accepted() -> [Action] {
        settle()
    }

    /// The connection stands, but not for long.
    package mutating func refused(_ refusal: Refusal) -> [Action] {
        refuse(refusal)
    }

    /// Bytes of a call whose rest is awaited, or of calls that wait for the one that is being served.
    package var unfinishedBytes: Int { framer.bufferedBytes }

    /// - Parameter refusal: for the case that these bytes finish no call; nil if there is room for them.
    package mutating func bytesReceived(_ bytes: [UInt8], orRefuse refusal: Refusal? = nil) -> [Action] {
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

    /// The peer will send nothing more; it may still read.
    package mutating func inputClosed() -> [Action] {
        isInputClosed = true
        return settle()
    }

    /// The service has replied. `undrainedBytes` is what still waits for the peer to read it.
    ///
    /// - Parameter refusal: what the caller is told instead, if there is no room for the reply.
    package mutating func replied(
        _ reply: VarlinkReply,
        to number: CallNumber,
        undrainedBytes: Int,
        orRefuse refusal: Refusal? = nil
    ) -> [Action] {
        guard number == callNumber, case .serving(let isOneway, let wantsMore) = phase else { return [] }
        precondition(!reply.continues || wantsMore || isOneway, "several replies to a call that takes one")
        if reply.continues, isOneway { return [] }
        if let refusal, !isOneway { return refuse(refusal) }
        if reply.continues, undrainedBytes > 0, undrainedBytes + reply.message.count > limits.undrainedBytesMax {
            // To leave one change out would be a lie; the subscriber is told and has to subscribe again.
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

    /// The service gives the call up: its caller is to turn to whoever serves next, and what it sent meanwhile was never taken up.
    package mutating func hungUp(_ number: CallNumber) -> [Action] {
        guard isServing(number) else { return [] }
        return cut()
    }

    /// So much waits to be read that nothing more should be read from the peer.
    package mutating func outputBlocked() {
        isOutputBlocked = true
    }

    package mutating func outputDrained() -> [Action] {
        isOutputBlocked = false
        return settle()
    }

    /// The time for what `Action.await` named is over.
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

    /// The server is about to end: no call is taken up any more; one being served goes on, and a stream does, too.
    package mutating func callsEnded() -> [Action] {
        isShuttingDown = true
        return settle()
    }

    /// The server is to end: a call being served gets its reply; a stream, which would go on for ever, is cut between two.
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
        // A call, and the end of waiting for it.
        actions.reserveCapacity(2)
        settle(&actions)
        return actions
    }

    /// Takes up the next call if one is complete, and ends the connection if none can come.
    private mutating func settle(_ actions: inout [Action]) {
        guard case .ready = phase else { return }
        guard !isShuttingDown else { return end(&actions) }
        guard !isOutputBlocked else { return awaitAnew(&actions) }
        let message: [UInt8]?
        do {
            message = try framer.next()
        } catch {
            actions += refuse(.messageTooLong(limit: limits.messageBytesMax))
            return
        }
        if let message {
            guard let call = VarlinkCall(message: message, limits: limits) else {
                actions += refuse(.messageMalformed)
                return
            }
            callNumber += 1
            phase = .serving(isOneway: call.isOneway, wantsMore: call.wantsMore)
            awaitAnew(&actions)
            actions.append(.dispatch(call, callNumber))
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

    /// Ends the call being served without a last reply, and the connection.
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

    private mutating func refuse(_ refusal: Refusal) -> [Action] {
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

/// Cuts a stream of bytes into messages that each end with a NUL.
///
/// The work is linear in the number of bytes, however they are split: no byte is searched twice, and consumed bytes are
/// moved out of the way only when they are at least half of the buffer.
package struct MessageFramer {
    /// A message is longer than the limit; the stream cannot be followed any further.
    package struct MessageTooLong: Error, Equatable {}

    private let messageBytesMax: Int
    private var buffer: [UInt8] = []
    /// Where what has not been given out begins.
    private var start = 0
    /// Up to where it is known to hold no NUL.
    private var searched = 0

    package init(messageBytesMax: Int) {
        self.messageBytesMax = messageBytesMax
    }

    /// Bytes fed and not yet given out.
    package var bufferedBytes: Int { buffer.count - start }

    /// Takes `bytes` in; `next()` gives out what they complete.
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

    /// The next complete message without its NUL; nil if its end has not come yet.
    ///
    /// - Throws: `MessageTooLong`, as soon as it is certain; the connection must then be closed.
    package mutating func next() throws(MessageTooLong) -> [UInt8]? {
        guard let end = buffer[searched...].firstIndex(of: 0) else {
            searched = buffer.count
            guard bufferedBytes <= messageBytesMax else { throw MessageTooLong() }
            return nil
        }
        guard end - start <= messageBytesMax else { throw MessageTooLong() }
        defer { (start, searched) = buffer.isEmpty ? (0, 0) : (end + 1, end + 1) }
        guard end == buffer.count - 1 else { return Array(buffer[start..<end]) }
        // The last of the buffer, and nearly always the only one: it becomes the message, uncopied.
        var message = buffer
        buffer = []
        message.removeLast()
        if start > 0 { message.removeFirst(start) }
        return message
    }
}
