internal import AuthRefreshInterface
internal import VarlinkClient

/// A token with the proof that the account's key is ours (RFC 9449).
struct ProvenToken {
    let token: AcquiredToken
    let proof: String

    /// Acquires the token, and has a proof made for one request with it.
    ///
    /// - Parameters:
    ///   - method: the request's.
    ///   - url: the request's.
    ///   - nonce: what the server asked for; nil if it did not.
    init(
        _ request: TokenRequest,
        method: String,
        url: String,
        nonce: String?
    ) throws(AuthctlError) {
        var daemon = try DaemonConnection(socket: request.socket)
        token = try request.acquire(from: &daemon)
        let parameters = ProvePossession.Parameters(
            account: request.account,
            method: method,
            url: url,
            accessToken: token.accessToken,
            nonce: nonce
        )
        proof = try daemon.ask(.provePossession, parameters, for: ProvePossession.Reply.self).proof
        guard AcquiredToken.isPrintable(proof) else { throw .connection(.unreadableReply) }
        request.warnIfShort(token)
    }

    /// The text for standard output, with its newline: the proof stands on a line of its own.
    func text(for request: TokenRequest) throws(AuthctlError) -> String {
        let text = try token.text(for: request)
        switch request.format {
        case .raw, .xoauth2, .oauthbearer: return text + proof + "\n"
        case .header: return text + "DPoP: \(proof)\n"
        case .env: return text + "export AUTHREFRESH_DPOP_PROOF='\(proof)'\n"
        case .json: return token.object(with: proof).text + "\n"
        }
    }
}
