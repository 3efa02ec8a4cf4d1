internal import AuthRefreshInterface
internal import Basics
internal import OAuthClient
internal import OAuthMessages
internal import RefreshCore
internal import Varlink

/// The call about protected resources.
extension RefreshCoordinator {
    func discoverResource(_ asked: DiscoverResource.Parameters, _ responder: VarlinkResponder) throws(VarlinkError) {
        let (question, isLocal) = try question(about: asked)
        // A question about a remote server would only wait.
        guard host.isOnline || isLocal else {
            throw VarlinkError(unreachable: "there is no network", asked)
        }
        try ask(for: responder) { [inspection = client.inspection] () throws(VarlinkError) in
            switch await question(inspection) {
            case .published(let resource): return DiscoverResource.Reply(resource)
            case .unreachable(let reason): throw VarlinkError(unreachable: reason, asked)
            case .unusable(let reason, let other): throw VarlinkError(unusable: reason, other: other, asked)
            }
        }
    }

    /// - Returns: what to ask, and whether the server may be on this machine, where no network is needed.
    private func question(about asked: DiscoverResource.Parameters) throws(VarlinkError) -> (
        ask: @Sendable (ServerInspection) async -> ResourceFinding, isLocal: Bool
    ) {
        guard let text = asked.url else {
            guard let account = asked.account else { throw .invalidParameter("account") }
            guard let challenge = asked.challenge else { throw .invalidParameter("challenge") }
            let isLocal = try self.account(account).account.issuer.isLoopback
            return ({ await $0.resource(challenging: challenge, isLocal: isLocal) }, isLocal)
        }
        guard asked.account == nil else { throw .invalidParameter("account") }
        guard asked.challenge == nil else { throw .invalidParameter("challenge") }
        guard text.utf8.count <= ProtectedResource.identifierMax, let url = Endpoint(text) else {
            throw Complaint(
                field: "url",
                "it is not the https URL of a resource",
                hint: "https://mcp.example.com/mcp"
            ).error
        }
        return ({ await $0.resource(at: url) }, url.isLoopback)
    }
}

extension DiscoverResource.Reply {
    fileprivate init(_ resource: ProtectedResource) {
        self.init(
            resource: resource.identifier.url,
            issuers: resource.issuers.map(\.url),
            scopes: resource.scopes.isEmpty ? nil : resource.scopes,
            dpop: resource.requiresDPoP ? true : nil
        )
    }
}

extension VarlinkError {
    fileprivate init(unreachable reason: String, _ asked: DiscoverResource.Parameters) {
        let hint: Hint = "check the URL and the network, or try again later"
        self = ServerUnavailableError(url: asked.url ?? "the resource", reason: reason, hint: hint).error
    }

    /// - Parameter other: the resource that the metadata is for, on the same host.
    fileprivate init(unusable reason: String, other: String?, _ asked: DiscoverResource.Parameters) {
        guard let url = asked.url else {
            self = Complaint(field: "challenge", reason).error
            return
        }
        let hint =
            other.map { Hint(Command("login", "NAME", "--resource-server", $0)) }
            ?? "if you know its authorization server: "
            + Hint(Command("account", "add", "NAME", "--issuer", "URL", "--resource", url, "--register"))
        self = Complaint(field: "url", reason, hint: hint).error
    }
}
