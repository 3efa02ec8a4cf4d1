internal import AuthRefreshInterface
internal import Basics
internal import OAuthClient
internal import OAuthMessages
internal import RefreshCore
internal import Varlink

/// The call for proofs that a sender may use an account's key.
extension RefreshCoordinator {
    func provePossession(_ asked: ProvePossession.Parameters, _ responder: VarlinkResponder) throws(VarlinkError) {
        let snapshot = try account(asked.account)
        guard let key = snapshot.account.registration.dpopKey else {
            throw Complaint(
                field: "dpop",
                "the tokens of '\(snapshot.account.name)' are not bound to a key",
                hint: "to bind tokens to a key, add an account with '\(Command("account", "add", "--dpop"))'"
            ).error
        }
        guard DPoPKey.isMethod(asked.method) else { throw VarlinkError.invalidParameter("method") }
        guard let url = Endpoint(asked.url) else { throw Complaint(field: "url", "it is not an https URL").error }
        if let nonce = asked.nonce, !DPoPKey.isNonce(nonce) { throw VarlinkError.invalidParameter("nonce") }
        let accessToken = try asked.accessToken?.secret(field: "accessToken")
        // Servers that check the time use their own clock. Resource servers are assumed to have the authorization
        // server's time.
        let now = snapshot.at.wall + (snapshot.clockSkew ?? .zero)
        let proof = try? key.dpopProof(
            method: asked.method,
            url: url,
            nonce: asked.nonce,
            accessToken: accessToken,
            now: now
        )
        guard let proof else {
            throw Complaint(
                field: "dpop",
                "the account's key cannot be used",
                hint: Hint(Command("store", "check"))
            ).error
        }
        responder.reply(ProvePossession.Reply(proof: proof))
    }
}
