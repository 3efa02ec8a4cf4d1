/// What a service says of itself in `org.varlink.service.GetInfo`.
package struct ServiceInfo: Encodable, Equatable, Sendable {
    package let vendor: String
    package let product: String
    package let version: String
    package let url: String

    package init(vendor: String, product: String, version: String, url: String) {
        self.vendor = vendor
        self.product = product
        self.version = version
        self.url = url
    }
}

/// What the server serves.
package struct VarlinkService: Sendable {
    /// Answers one call, now or later, by the responder.
    ///
    /// Runs on the server's thread, which serves all peers: hand on what takes time. Every call must get exactly one
    /// last reply, a `oneway` call too (it is not sent): the connection's next call waits for it.
    package typealias Handle = @Sendable (VarlinkCall, PeerCredentials, VarlinkResponder) -> Void

    package let info: ServiceInfo
    /// The text of each interface's description, by name. Calls to other interfaces never reach `handle`.
    package let interfaces: [String: String]
    package let handle: Handle
    /// The error reply for what the server refuses by itself.
    package let refusalError: @Sendable (Refusal) -> VarlinkError

    package init(
        info: ServiceInfo,
        interfaces: [String: String],
        refusalError: @escaping @Sendable (Refusal) -> VarlinkError = { $0.standardError },
        handle: @escaping Handle
    ) {
        self.info = info
        self.interfaces = interfaces
        self.refusalError = refusalError
        self.handle = handle
    }
}

extension VarlinkService {
    /// Brings a call to whom it concerns: the server itself, the service, or nobody.
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
