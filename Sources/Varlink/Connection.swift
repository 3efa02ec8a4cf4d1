internal import NIOCore

/// One peer's connection: carries out what its machine decides. Lives on the event loop.
final class Connection: ChannelInboundHandler, ChannelOutboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let registry: ConnectionRegistry
    private var machine: ConnectionMachine
    private var context: ChannelHandlerContext?
    private var link: ConnectionLink?
    private var abandonActions: [@Sendable () -> Void] = []
    private var servedCall: ConnectionMachine.CallNumber = 0
    /// The last call that ended without a last reply; 0 for none.
    private var abandonedCall: ConnectionMachine.CallNumber = 0

    private var pending: ArraySlice<ConnectionMachine.Action> = []
    private var isPerforming = false
    private var isReadHeld = false

    /// When the registry is to call `deadlineReached()`; nil for never.
    private(set) var deadline: NIODeadline?
    /// The user whose share of the connections this one counts against; nil if it was not admitted.
    private(set) var admittedUID: UInt32?

    init(registry: ConnectionRegistry) {
        self.registry = registry
        machine = ConnectionMachine(limits: registry.limits)
    }

    // MARK: The channel

    func channelActive(context: ChannelHandlerContext) {
        self.context = context
        guard let peer = PeerCredentials(of: context.channel) else {
            return refuse(.peerUnknown, peer: nil)
        }
        link = ConnectionLink(self, eventLoop: context.eventLoop, peer: peer)
        if let refusal = registry.refusal(of: peer) {
            return refuse(refusal, peer: peer)
        }
        admittedUID = peer.uid
        registry.add(self)
        perform(machine.accepted())
    }

    private func refuse(_ refusal: Refusal, peer: PeerCredentials?) {
        registry.add(self)
        perform(machine.refused(refusal))
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        perform(machine.bytesReceived(unwrapInboundIn(data)))
    }

    func read(context: ChannelHandlerContext) {
        if machine.wantsInput {
            context.read()
        } else {
            isReadHeld = true
        }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable {
            perform(machine.outputDrained())
        } else {
            machine.outputBlocked()
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .inputClosed? = event as? ChannelEvent {
            perform(machine.inputClosed())
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        link?.markDisconnected()
        perform(machine.disconnected())
        registry.remove(self)
        link = nil
        self.context = nil
    }

    /// A peer that goes away is no fault of ours; whatever else it is, the connection cannot go on.
    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    // MARK: The responder and the registry

    func replied(_ reply: VarlinkReply, to number: ConnectionMachine.CallNumber) {
        guard let context else { return }
        let actions = machine.replied(reply, to: number, undrainedBytes: undrainedBytes(context))
        if number == servedCall, !reply.continues {
            abandonActions = []
        }
        perform(actions)
    }

    /// Keeps `action` for the end of call `number`, or does it now if that call has been abandoned.
    func whenAbandoned(_ number: ConnectionMachine.CallNumber, _ action: @escaping @Sendable () -> Void) {
        if abandonedCall == number {
            action()
        } else if machine.isServing(number) {
            abandonActions.append(action)
        }
    }

    /// The socket's descriptor, for as long as `body` runs; nil once the connection is gone.
    func withSocket(_ body: (Int32?) -> Void) {
        let socket = try? context?.channel.pipeline.syncOperations.withUnsafeTransportIfAvailable {
            (descriptor: NIOBSDSocket.Handle) in descriptor
        }
        body(socket ?? nil)
    }

    func deadlineReached() {
        deadline = nil
        perform(machine.deadlineReached())
    }

    func callsEnded() {
        perform(machine.callsEnded())
    }

    func shutdownRequested() {
        perform(machine.shutdownRequested())
    }

    /// Closes without waiting for anything.
    func cut() {
        context?.close(promise: nil)
    }

    // MARK: Actions

    /// Does what the machine asked for. What the service answers at once is queued behind it, not nested in it: a peer
    /// that pipelines cannot grow our stack.
    private func perform(_ actions: [ConnectionMachine.Action]) {
        pending.append(contentsOf: actions)
        guard !isPerforming else { return }
        isPerforming = true
        var hasWritten = false
        while let action = pending.popFirst() {
            hasWritten = perform(action) || hasWritten
        }
        isPerforming = false
        guard let context else { return }
        if hasWritten {
            context.flush()
        }
        if isReadHeld, machine.wantsInput {
            isReadHeld = false
            context.read()
        }
    }

    /// - Returns: Whether something was written that has to be flushed.
    private func perform(_ action: ConnectionMachine.Action) -> Bool {
        switch action {
        case .send(let message):
            return write(message)
        case .refuse(let refusal):
            registry.observe(.refused(refusal, peer: link?.peer))
            return write(VarlinkReply(registry.service.refusalError(refusal)).message)
        case .abandonCall:
            abandonedCall = servedCall
            let actions = abandonActions
            abandonActions = []
            for action in actions { action() }
        case .await(let patience):
            setDeadline(patience)
        case .closeWhenSent:
            closeWhenSent()
        case .close:
            context?.close(promise: nil)
        case .dispatch(let call, let number):
            guard let link else { return false }
            servedCall = number
            abandonActions = []
            registry.service.route(call, VarlinkResponder(link: link, number: number))
        }
        return false
    }

    private func write(_ message: ByteBuffer) -> Bool {
        guard let context else { return false }
        context.write(wrapOutboundOut(message), promise: nil)
        return true
    }

    private func setDeadline(_ patience: ConnectionMachine.Patience?) {
        guard let patience else {
            deadline = nil
            return
        }
        let limit =
            switch patience {
            case .idle: registry.limits.idleTimeout
            case .restOfMessage: registry.limits.messageTimeout
            case .drain: registry.limits.drainTimeout
            }
        let end = NIODeadline.now() + TimeAmount(limit)
        deadline = end
        registry.deadlineSet(end)
    }

    private func closeWhenSent() {
        guard let context else { return }
        guard context.channel.isActive else { return }
        // An empty write completes after all those before it.
        context.writeAndFlush(wrapOutboundOut(ByteBuffer())).assumeIsolated().whenComplete { _ in
            context.close(promise: nil)
        }
    }

    /// Bytes written that the kernel has not taken yet.
    private func undrainedBytes(_ context: ChannelHandlerContext) -> Int {
        guard let bytes = try? context.channel.syncOptions?.getOption(.bufferedWritableBytes) else { return 0 }
        return bytes
    }
}
