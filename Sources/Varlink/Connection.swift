internal import Glibc

/// One peer's connection: it carries out what its machine decides. It lives on the socket's thread.
final class Connection {
    /// The most bytes per read. Calls are short, so one read usually takes a whole call.
    private static let readBytes = 4096

    let number: UInt64
    private let registry: ConnectionRegistry
    private let link: ConnectionLink
    /// The socket's descriptor; the connection closes it at the end.
    let descriptor: Int32
    private var machine: ConnectionMachine
    private var abandonActions: [@Sendable () -> Void] = []
    /// Actions to run when the peer has read most of its replies.
    private var readActions: [@Sendable () -> Void] = []
    private var servedCall: ConnectionMachine.CallNumber = 0
    /// The last call that ended without a last reply; 0 if none did.
    private var abandonedCall: ConnectionMachine.CallNumber = 0

    private var pending: [ConnectionMachine.Action] = []
    private var isPerforming = false

    private var output: Outbox
    /// How much of each `HeldResource` the registry has counted for this connection.
    private var counted = [Int](repeating: 0, count: HeldResource.allCases.count)
    private var closesWhenSent = false
    private var isInputClosed = false
    /// Whether the peer has closed its end, so that the loop need not watch it.
    private var isPeerGone = false
    /// Whether the connection is open; false for good once it is closed.
    private(set) var isOpen = true
    /// What the loop watches for; nil before it watches.
    private var watched: SocketLoop.Interest?
    /// Whether this connection is on the list of those to settle at the end of this turn.
    private var isToBeSettled = false
    /// Whether we checked once more for a hang-up before watching.
    private var hasLookedAgain = false

    /// The process at the other end; 0 if the kernel did not say.
    var pid: Int32 { link.peer?.pid ?? 0 }
    /// When the registry has to call `deadlineReached()`; nil for never.
    private(set) var deadline: SuspendingClock.Instant?
    /// Since when no call has been under way; nil while one is.
    private(set) var idleSince: SuspendingClock.Instant?
    private var isAdmitted = false

    /// Takes ownership of `descriptor`, and closes it at the end.
    init(_ descriptor: Int32, registry: ConnectionRegistry, link: ConnectionLink) {
        self.descriptor = descriptor
        self.registry = registry
        self.link = link
        number = link.number
        machine = ConnectionMachine(limits: registry.limits)
        output = Outbox(highWater: registry.limits.undrainedBytesHighWater)
    }

    // MARK: The socket

    /// Admits the peer, or sends it a refusal.
    func begin() {
        let refusal = link.peer.map { registry.refusal(of: $0) } ?? .peerUnknown
        isAdmitted = refusal == nil
        registry.add(self)
        perform(refusal.map { machine.refused($0) } ?? machine.accepted())
        // Most peers have sent their call already.
        if isOpen, machine.wantsInput { read() }
    }

    /// Handles an event: the socket is readable or writable, or the peer has gone.
    func ready(_ event: SocketLoop.Readiness) {
        if event.isWritable { flush() }
        guard isOpen else { return }
        let mayRead = machine.wantsInput && !isInputClosed
        if mayRead, event.isReadable || event.isHungUp { return read(isLast: event.isHungUp) }
        if event.isHungUp { peerGone() }
        settleLater()
    }

    /// Reads once, so that the other connections get their turn.
    private func read(isLast isHungUp: Bool = false) {
        let (bytes, outcome) = SocketSystem.read(descriptor, limit: Self.readBytes)
        switch outcome {
        case .moved(0):
            isInputClosed = true
            perform(machine.inputClosed())
            if isHungUp, isOpen { peerGone() }
        case .moved:
            let isLong = machine.unfinishedBytes + bytes.count > registry.limits.pipelinedBytesMax
            let refusal = isLong ? registry.refusal(of: bytes.count, .unfinishedBytes, by: pid) : nil
            perform(machine.bytesReceived(bytes, orRefuse: refusal))
        case .wouldBlock: if hasLookedAgain { settleInterest() } else { settleLater() }
        // A peer that goes away is not our error. After any other error, the connection cannot continue either.
        case .failed: close()
        }
    }

    /// Handles a peer that will read no more replies. Calls that want no reply are still carried out.
    private func peerGone() {
        guard machine.isServingOneway else { return close() }
        if watched != nil { registry.loop.forget(descriptor) }
        isPeerGone = true
        isInputClosed = true
        perform(machine.inputClosed())
    }

    private func flush() {
        guard output.send(to: descriptor) else { return close() }
        countHeld()
        switch output.crossedMark() {
        case .upwards: machine.outputBlocked()
        case .downwards:
            perform(machine.outputDrained())
            let actions = readActions
            readActions = []
            for action in actions { action() }
        case nil: break
        }
        if output.isEmpty, closesWhenSent { close() }
    }

    // MARK: The end of a turn

    private func settleLater() {
        guard !isToBeSettled, isOpen else { return }
        isToBeSettled = true
        registry.settleLater(self)
    }

    /// Sends the replies of this turn.
    func sendReplies() {
        isToBeSettled = false
        if isOpen { flush() }
    }

    /// Lets the loop watch for the next event, unless it has already happened. Most peers hang up after they have read
    /// their reply.
    func settle() {
        if isOpen, !hasLookedAgain, machine.wantsInput, !isInputClosed {
            hasLookedAgain = true
            return read()
        }
        settleInterest()
    }

    /// Tells the loop what to watch for now.
    private func settleInterest() {
        guard isOpen, !isPeerGone else { return }
        var interest: SocketLoop.Interest = []
        if machine.wantsInput, !isInputClosed { interest.insert(.input) }
        if !output.isEmpty { interest.insert(.output) }
        guard interest != watched else { return }
        do throws(VarlinkServerError) {
            if watched == nil {
                try registry.loop.watch(descriptor, key: number, for: interest)
            } else {
                registry.loop.change(descriptor, key: number, to: interest)
            }
            watched = interest
        } catch {
            // Without a watch, we would never see its data or its hang-up. So it is closed like a peer that could not
            // be admitted.
            registry.tellShortage(error)
            close()
        }
    }

    /// Closes the connection at once.
    func close() {
        guard isOpen else { return }
        isOpen = false
        Glibc.close(descriptor)
        link.markDisconnected()
        output.removeAll()
        readActions = []
        deadline = nil
        perform(machine.disconnected())
        countHeld()
        registry.remove(self)
    }

    /// Ends the connection without waiting for the peer to read the reason, because others need the memory that it
    /// takes.
    func giveWay(_ refusal: PeerFinding) {
        perform(.refuse(refusal))
        flush()
        close()
    }

    // MARK: The responder and the registry

    func replied(_ reply: VarlinkReply, to number: ConnectionMachine.CallNumber) {
        // Otherwise a peer that pipelines small calls with large replies and reads none of them would make us create
        // them all.
        if output.isAboveMark { flush() }
        guard isOpen else { return }
        let isLong = reply.message.count > registry.limits.shortReplyBytes
        let refusal = isLong ? registry.refusal(of: reply.message.count, .unreadBytes, by: pid) : nil
        let actions = machine.replied(reply, to: number, undrainedBytes: output.count, orRefuse: refusal)
        if number == servedCall, !reply.continues {
            abandonActions = []
        }
        perform(actions)
    }

    /// Runs `action` when little waits to be read by the peer.
    func whenRead(_ action: @escaping @Sendable () -> Void) {
        if output.isAboveMark { flush() }
        guard isOpen else { return }
        if output.isAboveMark { readActions.append(action) } else { action() }
    }

    /// How much of `resource` this connection holds, as counted.
    func held(_ resource: HeldResource) -> Int { counted[resource.rawValue] }

    /// Whether the peer has sent something that was not read yet.
    var hasInput: Bool { isOpen && SocketSystem.hasInput(descriptor) }

    /// Tells the registry how much this connection holds now.
    private func countHeld() {
        count(.connections, isOpen && isAdmitted ? 1 : 0)
        count(.heldCalls, isOpen && machine.isServingMore ? 1 : 0)
        count(.unreadBytes, output.count)
        count(.unfinishedBytes, isOpen ? machine.unfinishedBytes : 0)
    }

    private func count(_ resource: HeldResource, _ amount: Int) {
        let change = amount - counted[resource.rawValue]
        guard change != 0 else { return }
        counted[resource.rawValue] = amount
        registry.count(change, of: resource, for: pid)
    }

    func hungUp(_ number: ConnectionMachine.CallNumber) { perform(machine.hungUp(number)) }

    /// Keeps `action` for the end of call `number`, or runs it now if that call has been abandoned.
    func whenAbandoned(_ number: ConnectionMachine.CallNumber, _ action: @escaping @Sendable () -> Void) {
        if abandonedCall == number || !isOpen {
            action()
        } else if machine.isServing(number) {
            abandonActions.append(action)
        }
    }

    func deadlineReached() {
        deadline = nil
        perform(machine.deadlineReached())
    }

    func callsEnded() { perform(machine.callsEnded()) }

    func shutdownRequested() { perform(machine.shutdownRequested()) }

    // MARK: Actions

    /// Carries out what the machine asked for.
    ///
    /// If the service answers at once, its answer is queued and not nested, so that a peer that pipelines cannot grow
    /// our stack.
    private func perform(_ actions: [ConnectionMachine.Action]) {
        guard !isPerforming else { return pending += actions }
        isPerforming = true
        for action in actions { perform(action) }
        while !pending.isEmpty {
            let actions = pending
            pending = []
            for action in actions { perform(action) }
        }
        isPerforming = false
        // The replies of a turn are sent together at its end, unless they exceed the limit.
        if isOpen, output.isAboveMark { flush() }
        if isOpen { countHeld() }
        settleLater()
    }

    private func perform(_ action: ConnectionMachine.Action) {
        switch action {
        case .send(let message):
            output.append(message)
        case .refuse(let refusal):
            registry.observe(.refused(refusal, peer: link.peer))
            output.append(VarlinkReply(registry.service.refusalError(refusal)).message)
        case .abandonCall:
            abandonedCall = servedCall
            let actions = abandonActions
            abandonActions = []
            for action in actions { action() }
        case .await(let patience):
            setDeadline(patience)
        case .closeWhenSent:
            closesWhenSent = true
        case .close:
            close()
        case .dispatch(let call, let number):
            guard let peer = link.peer else { return }
            servedCall = number
            abandonActions = []
            // If the last call was of this kind, too, it is still counted, and this one takes its place.
            if call.wantsMore, held(.heldCalls) == 0, let refusal = registry.refusal(of: 1, .heldCalls, by: peer.pid) {
                registry.observe(.refused(refusal, peer: peer))
                return replied(VarlinkReply(registry.service.refusalError(refusal)), to: number)
            }
            registry.service.route(call, VarlinkResponder(link: link, peer: peer, number: number))
        }
    }

    private func setDeadline(_ patience: ConnectionMachine.Patience?) {
        idleSince = patience.map { _ in registry.now }
        guard let patience, isOpen else {
            deadline = nil
            return
        }
        let end = registry.now + registry.limits.time(for: patience)
        deadline = end
        registry.deadlineSet(end)
    }
}

/// Bytes for one peer that the kernel has not taken yet.
struct Outbox {
    /// A change in how much the peer has not read.
    enum Crossing {
        /// The amount has risen above the mark.
        case upwards
        /// The amount has fallen below half of the mark. Half, so that not every read causes a report.
        case downwards
    }

    private let highWater: Int
    private var bytes: ArraySlice<UInt8> = []
    private var isHigh = false

    /// Creates an empty outbox.
    ///
    /// - Parameter highWater: the mark, in bytes.
    init(highWater: Int) {
        self.highWater = highWater
    }

    var isEmpty: Bool { bytes.isEmpty }
    var count: Int { bytes.count }
    var isAboveMark: Bool { bytes.count > highWater }

    mutating func append(_ message: [UInt8]) {
        if bytes.isEmpty { bytes = message[...] } else { bytes += message }
    }

    mutating func removeAll() {
        bytes = []
    }

    /// Sends as much as the socket takes; false if the peer takes nothing any more.
    mutating func send(to descriptor: Int32) -> Bool {
        while !bytes.isEmpty {
            switch SocketSystem.write(descriptor, bytes) {
            case .moved(let count): bytes = bytes.dropFirst(count)
            case .wouldBlock: return true
            case .failed: return false
            }
        }
        // An empty slice would keep its whole array in memory.
        bytes = []
        return true
    }

    /// Which mark was crossed since the last call; nil if none was.
    mutating func crossedMark() -> Crossing? {
        guard isHigh ? bytes.count <= highWater / 2 : isAboveMark else { return nil }
        isHigh.toggle()
        return isHigh ? .upwards : .downwards
    }
}
