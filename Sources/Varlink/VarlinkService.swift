internal import Glibc
internal import Synchronization

/// What a service says about itself in `org.varlink.service.GetInfo`.
package struct ServiceInfo: Encodable, Equatable, Sendable {
    package let vendor: String
    package let product: String
    package let version: String
    package let url: String
    /// The names of all interfaces; filled in for the reply.
    fileprivate(set) var interfaces: [String] = []

    package init(vendor: String, product: String, version: String, url: String) {
        self.vendor = vendor
        self.product = product
        self.version = version
        self.url = url
    }
}

/// The service behind a server.
package struct VarlinkService: Sendable {
    /// Answers one call through the responder, now or later.
    ///
    /// It runs on the server's thread, which serves all peers, so slow work must go elsewhere. Every call must get
    /// exactly one last reply, because the connection's next call waits for it. That includes a `oneway` call, whose
    /// reply is not sent.
    package typealias Handle = @Sendable (VarlinkCall, PeerCredentials, VarlinkResponder) -> Void

    package let info: ServiceInfo
    /// Makes the text of each interface's description, by name. Only people ask for it, so it is not kept. Calls to
    /// other interfaces do not reach `handle`.
    package let interfaces: [String: @Sendable () -> String]
    package let handle: Handle
    /// The error reply for a refusal by the server itself.
    package let refusalError: @Sendable (PeerFinding) -> VarlinkError

    package init(
        info: ServiceInfo,
        interfaces: [String: @Sendable () -> String],
        refusalError: @escaping @Sendable (PeerFinding) -> VarlinkError = { $0.standardError },
        handle: @escaping Handle
    ) {
        self.info = info
        self.interfaces = interfaces
        self.refusalError = refusalError
        self.handle = handle
    }
}

extension VarlinkService {
    /// Passes a call to the server itself or to the service, or replies that nobody has the interface.
    func route(_ call: VarlinkCall, _ responder: VarlinkResponder) {
        guard !call.wantsUpgrade else {
            return responder.fail(.invalidParameter("upgrade"))
        }
        guard let interface = call.interface else {
            return responder.fail(.invalidParameter("method"))
        }
        if interface == SelfDescription.interface {
            SelfDescription.answer(call, of: self, responder)
        } else if interfaces.keys.contains(where: { $0 == interface }) {
            handle(call, responder.peer, responder)
        } else {
            responder.fail(.interfaceNotFound(String(interface)))
        }
    }
}

/// `org.varlink.service`, by which any Varlink client finds out what it may call.
enum SelfDescription {
    static let interface = "org.varlink.service"

    private struct NoParameters: Decodable {}

    private struct DescriptionQuery: Decodable {
        let interface: String
    }

    static func answer(_ call: VarlinkCall, of service: VarlinkService, _ responder: VarlinkResponder) {
        do throws(VarlinkError) {
            switch call.method {
            case "org.varlink.service.GetInfo":
                _ = try call.decodeParameters(as: NoParameters.self)
                responder.reply(info(of: service))
            case "org.varlink.service.GetInterfaceDescription":
                let query = try call.decodeParameters(as: DescriptionQuery.self)
                responder.reply(["description": try description(of: query.interface, in: service)])
            default:
                throw .methodNotFound(call.method)
            }
        } catch {
            responder.fail(error)
        }
    }

    private static func info(of service: VarlinkService) -> ServiceInfo {
        var info = service.info
        info.interfaces = [interface] + service.interfaces.keys.sorted()
        return info
    }

    private static func description(
        of name: String,
        in service: VarlinkService
    ) throws(VarlinkError) -> String {
        if name == interface { return description }
        guard let text = service.interfaces[name] else { throw .interfaceNotFound(name) }
        return text()
    }

    private static let description = """
        # What every Varlink service can be asked about itself.
        interface org.varlink.service

        # Who made the service, and the names of all its interfaces.
        method GetInfo() -> (
          vendor: string,
          product: string,
          version: string,
          url: string,
          interfaces: []string
        )

        # The description of one interface, in the Varlink definition language.
        method GetInterfaceDescription(interface: string) -> (description: string)

        # The service does not have this interface.
        error InterfaceNotFound (interface: string)

        # The interface does not have this method.
        error MethodNotFound (method: string)

        # The interface has this method, but the service does not do it.
        error MethodNotImplemented (method: string)

        # This parameter is missing, unknown, or not what the method takes.
        error InvalidParameter (parameter: string)

        # The caller may not do that.
        error PermissionDenied ()

        # The method can only be called with the flag for more replies.
        error ExpectedMore ()

        """
}

/// The way to reply to one call. It may be used from any thread, and none of its methods blocks.
///
/// Replies made on one thread are sent in their order. Replies to a peer that has gone, and replies after the last one,
/// are dropped.
package struct VarlinkResponder: Sendable {
    private let link: ConnectionLink
    private let number: ConnectionMachine.CallNumber
    package let peer: PeerCredentials

    init(link: ConnectionLink, peer: PeerCredentials, number: ConnectionMachine.CallNumber) {
        self.link = link
        self.peer = peer
        self.number = number
    }

    /// When the connection was accepted, in µs of `CLOCK_BOOTTIME`.
    package var acceptedAt: Int64 { link.acceptedAt }

    /// Calls `body` on the server's thread with the connection's socket, to ask the kernel about the peer; with nil if
    /// the connection is closed.
    ///
    /// The descriptor belongs to the server, and is valid only until `body` returns.
    package func withSocket(_ body: @escaping @Sendable (Int32?) -> Void) {
        link.onThread { body($0?.descriptor) }
    }

    /// Whether the connection is open; false for good once it is closed.
    package var isConnected: Bool { link.isConnected }

    /// Replies with these parameters.
    ///
    /// - Parameter continues: whether more replies follow. It traps unless the call has `wantsMore`.
    package func reply(_ parameters: some Encodable, continues: Bool = false) {
        reply(encoded: WireJSON.encode(parameters), continues: continues)
    }

    /// Replies with parameters that are already encoded. `object` is a JSON object.
    package func reply(encoded object: [UInt8], continues: Bool = false) {
        send(VarlinkReply(encoded: object, continues: continues))
    }

    /// Ends the call with an error.
    package func fail(_ error: VarlinkError) {
        send(VarlinkReply(error))
    }

    /// Ends the call and the connection without a last reply.
    ///
    /// The caller sees this as if the server had gone, and asks the next one. It is for a server that is about to end
    /// and cannot finish the call first.
    package func hangUp() {
        link.onThread { [number] connection in connection?.hungUp(number) }
    }

    /// Sends a prepared reply, for example the same one to many subscribers.
    package func send(_ reply: VarlinkReply) {
        guard isConnected else { return }
        link.onThread { [number] connection in
            connection?.replied(reply, to: number)
        }
    }

    /// Sends several replies in their order. They leave together. `replies` is called on the server's thread.
    package func send(_ replies: @escaping @Sendable () -> [VarlinkReply]) {
        guard isConnected else { return }
        link.onThread { [number] connection in
            guard let connection else { return }
            for reply in replies() { connection.replied(reply, to: number) }
        }
    }

    /// Calls `action` on the server's thread when the peer has read most of the replies sent so far, so that sending
    /// more makes sense. It is never called if the connection ends before.
    package func whenRead(_ action: @escaping @Sendable () -> Void) {
        link.onThread { $0?.whenRead(action) }
    }

    /// Calls `action` once, on the server's thread, if the call ends without a last reply: the peer has gone, the
    /// server cut it off, or the server ends.
    ///
    /// If the connection is already closed, it is called at once on the caller's thread.
    package func onDisconnect(_ action: @escaping @Sendable () -> Void) {
        guard isConnected else { return action() }
        // The end of the connection wakes the thread. The thread then runs this job first, or finds the connection
        // closed.
        link.onThreadEventually { [number] connection in
            if let connection { connection.whenAbandoned(number, action) } else { action() }
        }
    }
}

/// The part of a connection that other threads may hold.
final class ConnectionLink: Sendable {
    /// The number of the connection. Numbers are not reused.
    let number: UInt64
    /// The peer; nil if the kernel did not identify it.
    let peer: PeerCredentials?
    /// When the connection was accepted, in µs of `CLOCK_BOOTTIME`.
    let acceptedAt: Int64
    private let server: SocketServer
    private let connected = Atomic<Bool>(true)

    init(_ server: SocketServer, number: UInt64, peer: PeerCredentials?) {
        self.server = server
        self.number = number
        self.peer = peer
        var now = timespec()
        unsafe clock_gettime(CLOCK_BOOTTIME, &now)
        acceptedAt = Int64(now.tv_sec) * 1_000_000 + Int64(now.tv_nsec) / 1000
    }

    var isConnected: Bool { connected.load(ordering: .acquiring) }

    func markDisconnected() { connected.store(false, ordering: .releasing) }

    /// Calls `body` on the server's thread. A server that has ended drops it, because its connections are closed and
    /// have been reported.
    func onThread(_ body: @escaping @Sendable (Connection?) -> Void) {
        server.onThread(number, body)
    }

    /// Like `onThread`, but runs `body` at the latest at the next event of the connection or the next job.
    func onThreadEventually(_ body: @escaping @Sendable (Connection?) -> Void) {
        server.onThreadEventually(number, body)
    }
}

/// Why the server ended a connection, or answered instead of the service.
package enum PeerFinding: Hashable, Sendable {
    /// The peer runs as a user who may not call.
    case peerNotAllowed(uid: UInt32)
    /// The kernel did not identify the peer.
    case peerUnknown
    /// The peer's process would hold more of this than its share. It is told who holds the most.
    case crowded(HeldResource, Shares.Crowding)
    /// A call is longer than `limit` bytes.
    case messageTooLong(limit: Int)
    /// The bytes before a NUL are not a Varlink call.
    case messageMalformed
    /// The rest of a call did not arrive in time, or the peer closed its side in the middle of one.
    case messageIncomplete
    /// The peer does not read its replies; they would exceed `limit` bytes.
    case repliesNotRead(limit: Int)

    /// The error reply of `org.varlink.service` for this refusal.
    ///
    /// That interface has no errors for limits, so the parameter's name states the cause. A service that has better
    /// names replaces the reply with `VarlinkService.refusalError`.
    package var standardError: VarlinkError {
        switch self {
        case .peerNotAllowed, .peerUnknown: .permissionDenied
        case .crowded(let resource, let most):
            .invalidParameter("\(resource): process \(most.process) has \(most.amount) of \(most.capacity)")
        case .messageTooLong(let limit): .invalidParameter("message: longer than \(limit) bytes")
        case .messageMalformed: .invalidParameter("message: not a Varlink call")
        case .messageIncomplete: .invalidParameter("message: incomplete")
        case .repliesNotRead(let limit): .invalidParameter("replies: more than \(limit) bytes unread")
        }
    }
}

extension PeerFinding: CustomStringConvertible {
    /// Why the peer was refused, for a log. Lower case, no full stop.
    package var description: String {
        switch self {
        case .peerNotAllowed(let uid): "uid \(uid) may not call"
        case .peerUnknown: "the kernel did not say who is calling"
        case .crowded(_, let most):
            "process \(most.process) has \(most.amount) of \(most.capacity), and there is no room for more"
        case .messageTooLong(let limit): "a call is longer than \(limit) bytes"
        case .messageMalformed: "what arrived is not a Varlink call"
        case .messageIncomplete: "the rest of a call did not arrive"
        case .repliesNotRead(let limit): "the caller leaves more than \(limit) bytes of replies unread"
        }
    }
}
