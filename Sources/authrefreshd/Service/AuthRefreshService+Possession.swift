internal import AuthRefreshInterface
internal import OAuthClient
internal import RefreshCore
internal import Varlink

/// Proofs for tokens that are bound to a key (RFC 9449).
extension AuthRefreshService {
    func provePossession(
        _ call: VarlinkCall,
        _ responder: VarlinkResponder,
        from caller: Caller,
        on coordinator: isolated RefreshCoordinator
    ) throws(VarlinkError) {
        let asked = try call.decodeParameters(as: ProvePossession.Parameters.self)
        guard let snapshot = try account(asked.account, for: caller, on: coordinator) else { return }
        guard let key = snapshot.account.registration.dpopKey else {
            let hint = "'authctl account add --dpop' makes an account whose tokens are"
            throw VarlinkError(
                InvalidSettingsError(field: "dpop", reason: "its tokens are bound to no key", hint: hint)
            )
        }
        guard PossessionRequest.isMethod(asked.method) else { throw VarlinkError.invalidParameter("method") }
        guard let url = Endpoint(asked.url) else {
            throw VarlinkError(
                InvalidSettingsError(field: "url", reason: "it is no https URL that a request could be sent to")
            )
        }
        if let nonce = asked.nonce, !PossessionRequest.isNonce(nonce) { throw VarlinkError.invalidParameter("nonce") }
        let request = PossessionRequest(
            method: asked.method,
            url: url,
            accessToken: try asked.accessToken.map { token throws(VarlinkError) in
                try checked(secret: token, field: "accessToken")
            },
            nonce: asked.nonce
        )
        // Servers that look at the time look at theirs, and resource servers keep the authorization server's.
        guard let proof = request.proof(by: key, now: snapshot.at.wall + (snapshot.clockSkew ?? .zero)) else {
            let reason = "the key cannot be used"
            throw VarlinkError(InvalidSettingsError(field: "dpop", reason: reason, hint: "authctl store check"))
        }
        responder.reply(ProvePossession.Reply(proof: proof))
    }
}
