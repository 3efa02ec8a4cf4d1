internal import Glibc

/// One peer's connection: carries out what its machine decides. Lives on the socket's thread.
final class Connection {
    /// Bytes read at once. Calls are short: this takes one in a single read.
    private static let readBytes = 4096

    let number: UInt64
    private let registry: ConnectionRegistry
    private let link: ConnectionLink
    /// Closed at the end.
    let descriptor: Int32
    private var machine: ConnectionMachine
    private var abandonActions: [@Sendable () -> Void] = []
    /// What waits for the peer to read.
    private var readActions: [@Sendable () -> Void] = []
    private var servedCall: ConnectionMachine.CallNumber = 0
    /// The last call that ended without a last reply; 0 for none.
    private var abandonedCall: ConnectionMachine.CallNumber = 0

    private var pending: [ConnectionMachine.Action] = []
    private var isPerforming = false

    private var output: Outbox
    /// How much of it the registry knows of, and how much of unfinished calls.
    private(set) var (countedUnread, countedUnfinished) = (0, 0)
    private var closesWhenSent = false
    private var isInputClosed = false
    /// There is nobody to watch for any more.
    private var isPeerGone = false
    /// False from the moment it is closed, which is for good.
    private(set) var isOpen = true
    /// What the loop watches for; nil before it watches at all.
    private var watched: SocketLoop.Interest?
    /// Whether the end of this turn looks after what is to be sent and watched for.
    private var isToBeSettled = false
    /// Whether it was looked once more, before watching, if the peer has hung up.
    private var hasLookedAgain = false

    /// The process at the other end; nil if the kernel did not say.
    var pid: Int32? { link.peer?.pid }
    /// When the registry is to call `deadlineReached()`; nil for never.
    private(set) var deadline: SuspendingClock.Instant?
    /// The user whose share of the connections this one counts against; nil if it was not admitted.
    private(set) var admittedUID: UInt32?

    /// Takes over `descriptor`, and closes it at the end.
    init(_ descriptor: Int32, registry: ConnectionRegistry, link: ConnectionLink) {
        self.descriptor = descriptor
        self.registry = registry
        self.link = link
        number = link.number
        machine = ConnectionMachine(limits: registry.limits)
        output = Outbox(highWater: registry.limits.undrainedBytesHighWater)
    }

    // MARK: The socket

    /// Lets the peer in, or says why not.
    func begin() {
        let refusal = link.peer.map { registry.refusal(of: $0) } ?? .peerUnknown
        if refusal == nil { admittedUID = link.peer?.uid }
        registry.add(self)
        perform(refusal.map { machine.refused($0) } ?? machine.accepted())
        // Most peers have sent their call by now.
        if isOpen, machine.wantsInput { read() }
    }

    /// Something may be read or written, or the peer has gone.
    func ready(_ event: SocketLoop.Readiness) {
        if event.isWritable { flush() }
        guard isOpen else { return }
        let mayRead = machine.wantsInput && !isInputClosed
        if mayRead, event.isReadable || event.isHungUp { return read(isLast: event.isHungUp) }
        if event.isHungUp { peerGone() }
        settleLater()
    }

    /// One read, and the others have their turn.
    private func read(isLast isHungUp: Bool = false) {
        let (bytes, outcome) = SocketSystem.read(descriptor, limit: Self.readBytes)
        switch outcome {
        case .moved(0):
            isInputClosed = true
            perform(machine.inputClosed())
            if isHungUp, isOpen { peerGone() }
        case .moved:
            let isLong = machine.unfinishedBytes + bytes.count > registry.limits.pipelinedBytesMax
            let refusal = isLong ? registry.refusal(ofUnfinished: bytes.count, by: link.peer?.pid) : nil
            perform(machine.bytesReceived(bytes, orRefuse: refusal))
        case .wouldBlock: if hasLookedAgain { settleInterest() } else { settleLater() }
        // A peer that goes away is no fault of ours; whatever else it is, the connection cannot go on.
        case .failed: close()
        }
    }

    /// Nobody will read another reply. What was sent in order to be done, without any, is still done.
    private func peerGone() {
        guard machine.isServingOneway else { return close() }
        if watched != nil { registry.loop.forget(descriptor) }
        isPeerGone = true
        isInputClosed = true
        perform(machine.inputClosed())
    }

    private func flush() {
        guard output.send(to: descriptor) else { return close() }
        countHeldBytes()
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

    /// Sends what this turn has brought.
    func sendReplies() {
        isToBeSettled = false
        if isOpen { flush() }
    }

    /// Has the loop watch for what comes next, unless it has come by now: most peers hang up when they have read their reply.
    func settle() {
        if isOpen, !hasLookedAgain, machine.wantsInput, !isInputClosed {
            hasLookedAgain = true
            return read()
        }
        settleInterest()
    }

    /// Has the loop watch for what is of interest now.
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
            // Nobody would tell what it sends, nor that it goes: it is turned away as if it could not have been let in.
            registry.tellShortage(error)
            close()
        }
    }

    /// Closes without waiting for anything.
    func close() {
        guard isOpen else { return }
        isOpen = false
        Glibc.close(descriptor)
        link.markDisconnected()
        output.removeAll()
        readActions = []
        deadline = nil
        perform(machine.disconnected())
        countHeldBytes()
        registry.remove(self)
    }

    /// Ends without waiting for the peer to read why: others need the room of what is held for it.
    func giveWay(_ refusal: Refusal) {
        perform(.refuse(refusal))
        flush()
        close()
    }

    // MARK: The responder and the registry

    func replied(_ reply: VarlinkReply, to number: ConnectionMachine.CallNumber) {
        // Else a peer that pipelines small questions with large answers, and does not read them, would have us make them all.
        if output.isAboveMark { flush() }
        guard isOpen else { return }
        let isLong = reply.message.count > registry.limits.shortReplyBytes
        let refusal = isLong ? registry.refusal(ofUnread: reply.message.count, by: link.peer?.pid) : nil
        let actions = machine.replied(reply, to: number, undrainedBytes: output.count, orRefuse: refusal)
        if number == servedCall, !reply.continues {
            abandonActions = []
        }
        perform(actions)
    }

    /// Does `action` when not much waits to be read by the peer.
    func whenRead(_ action: @escaping @Sendable () -> Void) {
        if output.isAboveMark { flush() }
        guard isOpen else { return }
        if output.isAboveMark { readActions.append(action) } else { action() }
    }

    /// Tells the registry how much waits to be read by the peer, and how much for the rest of its calls.
    private func countHeldBytes() {
        let (unread, unfinished) = (output.count, isOpen ? machine.unfinishedBytes : 0)
        if unread != countedUnread { registry.unread.count(unread - countedUnread, for: link.peer?.pid) }
        if unfinished != countedUnfinished {
            registry.unfinished.count(unfinished - countedUnfinished, for: link.peer?.pid)
        }
        (countedUnread, countedUnfinished) = (unread, unfinished)
    }

    func hungUp(_ number: ConnectionMachine.CallNumber) { perform(machine.hungUp(number)) }

    /// Keeps `action` for the end of call `number`, or does it now if that call has been abandoned.
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

    /// Does what the machine asked for. What the service answers at once is queued behind it, not nested in it: a peer
    /// that pipelines cannot grow our stack.
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
        // Replies leave together at the end of the turn, unless they are too many to be kept.
        if isOpen, output.isAboveMark { flush() }
        if isOpen { countHeldBytes() }
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
            registry.service.route(call, VarlinkResponder(link: link, peer: peer, number: number))
        }
    }

    private func setDeadline(_ patience: ConnectionMachine.Patience?) {
        guard let patience, isOpen else {
            deadline = nil
            return
        }
        let end = registry.now + registry.limits.time(for: patience)
        deadline = end
        registry.deadlineSet(end)
    }
}

/// What one peer is sent, and the kernel has not taken yet.
struct Outbox {
    /// A change of how much waits to be read by the peer.
    enum Crossing {
        /// It is much now.
        case upwards
        /// It is much no longer: half of the mark, so that it is not told at each read.
        case downwards
    }

    private let highWater: Int
    private var bytes: ArraySlice<UInt8> = []
    private var isHigh = false

    /// - Parameter highWater: bytes that are much.
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

    /// Sends as much as there is room for; false if the peer takes nothing any more.
    mutating func send(to descriptor: Int32) -> Bool {
        while !bytes.isEmpty {
            switch SocketSystem.write(descriptor, bytes) {
            case .moved(let count): bytes = bytes.dropFirst(count)
            case .wouldBlock: return true
            case .failed: return false
            }
        }
        // An empty slice would keep what it was cut from.
        bytes = []
        return true
    }

    /// What has changed since this was asked last; nil if nothing has.
    mutating func crossedMark() -> Crossing? {
        guard isHigh ? bytes.count <= highWater / 2 : isAboveMark else { return nil }
        isHigh.toggle()
        return isHigh ? .upwards : .downwards
    }
}

/// How many bytes are held for processes, on all connections of each.
package struct HeldBytes {
    let ofProcessMax: Int
    let ofAllMax: Int
    private var ofProcess: [Int32: Int] = [:]
    private var ofAll = 0

    package init(ofProcessMax: Int, ofAllMax: Int) {
        self.ofProcessMax = ofProcessMax
        self.ofAllMax = ofAllMax
    }

    /// Notes that so many more bytes are held for `process`, or fewer.
    package mutating func count(_ change: Int, for process: Int32?) {
        guard let process else { return }
        ofAll += change
        let count = ofProcess[process, default: 0] + change
        ofProcess[process] = count > 0 ? count : nil
    }

    package enum Verdict: Equatable {
        case fits
        case tooManyOfProcess
        /// There would be room without those of the process that has the most.
        case tooManyOfAll(most: Int32)
    }

    /// Whether so many more bytes may be held for `process`.
    package func verdict(on bytes: Int, for process: Int32?) -> Verdict {
        guard let process else { return .fits }
        let mine = ofProcess[process, default: 0] + bytes
        guard mine <= ofProcessMax else { return .tooManyOfProcess }
        guard ofAll + bytes > ofAllMax else { return .fits }
        let most = ofProcess.max { $0.value < $1.value }
        return .tooManyOfAll(most: most.flatMap { $0.value > mine ? $0.key : nil } ?? process)
    }
}
