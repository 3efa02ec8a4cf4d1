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

/// `org.varlink.service`: how any Varlink client finds out what it may call.
enum SelfDescription {
    static let interface = "org.varlink.service"

    private struct Info: Encodable {
        let vendor: String
        let product: String
        let version: String
        let url: String
        let interfaces: [String]
    }

    private struct NoParameters: Decodable {
        init(from decoder: any Decoder) throws {
            _ = try decoder.container(keyedBy: ParameterKey.self)
        }
    }

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

    private static func info(of service: VarlinkService) -> Info {
        Info(
            vendor: service.info.vendor,
            product: service.info.product,
            version: service.info.version,
            url: service.info.url,
            interfaces: [interface] + service.interfaces.keys.sorted()
        )
    }

    private static func description(
        of name: String,
        in service: VarlinkService
    ) throws(VarlinkError) -> String {
        if name == interface { return description }
        guard let text = service.interfaces[name] else { throw .interfaceNotFound(name) }
        return text
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
