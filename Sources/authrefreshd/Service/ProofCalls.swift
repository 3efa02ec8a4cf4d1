internal import AuthRefreshInterface
internal import OAuthClient
internal import OAuthMessages
internal import RefreshCore
internal import Varlink

/// The call for proofs that a sender may use an account's key.
struct ProofCalls: DutyCalls {
    let coordinator: RefreshCoordinator

    func prove(
        _ call: VarlinkCall,
        _ responder: VarlinkResponder,
        from caller: Caller,
        on coordinator: isolated RefreshCoordinator
    ) throws(VarlinkError) {
        let asked = try call.decodeParameters(as: ProvePossession.Parameters.self)
        guard let snapshot = try account(asked.account, for: caller, wanting: .tokens(host: nil), on: coordinator)
        else { return }
        guard let key = snapshot.account.registration.dpopKey else {
            throw .invalid(WrongArgument.notBoundToKey(account: snapshot.account.name.text))
        }
        guard PossessionRequest.isMethod(asked.method) else { throw VarlinkError.invalidParameter("method") }
        guard let url = Endpoint(asked.url) else { throw .invalid(WrongArgument.noRequestURL) }
        if let nonce = asked.nonce, !PossessionRequest.isNonce(nonce) { throw VarlinkError.invalidParameter("nonce") }
        let request = PossessionRequest(
            method: asked.method,
            url: url,
            accessToken: try asked.accessToken.map { token throws(VarlinkError) in
                try checked(secret: token, field: "accessToken")
            },
            nonce: asked.nonce
        )
        // Servers that check the time use their own clock. Resource servers are assumed to have the authorization
        // server's time.
        guard let proof = request.proof(by: key, now: snapshot.at.wall + (snapshot.clockSkew ?? .zero)) else {
            throw .invalid(WrongArgument.unusableDPoPKey)
        }
        responder.reply(ProvePossession.Reply(proof: proof))
    }
}
