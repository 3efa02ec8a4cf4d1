internal import AuthRefreshInterface
internal import Basics

/// A token for another program: an access token, or the account's ID token.
struct ToolToken {
    /// The token itself.
    let secret: SecretText
    /// When it expires, in µs since 1970.
    let expiresAtUSec: Int64
    /// Until when the request's holder should keep it, in µs since 1970; nil if the daemon does not say.
    private let heldUntilUSec: Int64?

    /// Acquires the requested token.
    ///
    /// - Throws: an error if only the holder of the account's key can use the token.
    init(_ request: TokenRequest) throws(Report) {
        var daemon = try DaemonConnection(socket: request.socket)
        try self.init(request, from: &daemon)
    }

    /// Acquires the token on a connection that can be used afterwards.
    init(_ request: TokenRequest, from daemon: inout DaemonConnection) throws(Report) {
        if request.idToken {
            let (token, heldUntil) = try request.acquireIDToken(from: &daemon)
            (secret, expiresAtUSec, heldUntilUSec) = (SecretText(token.token), token.expiresAtUSec, heldUntil)
        } else {
            let token = try request.acquire(from: &daemon)
            // RFC 9449: the token is useless for a program that does not have the account's key.
            guard token.tokenType.lowercased() != "dpop" else {
                let account = PlainText.line(request.account)
                throw Report(
                    status: .misconfigured,
                    name: "authctl.BoundToken",
                    message: "the tokens of '\(account)' are bound to a key, which the program does not have",
                    hints: ["if the server allows it, add an account without --dpop for this program"]
                )
            }
            request.warnIfShort(token)
            (secret, expiresAtUSec, heldUntilUSec) = (
                SecretText(token.accessToken), token.expiresAtUSec, token.heldUntilUSec
            )
        }
    }

    /// Acquires the token for the program that has started this one, and that keeps it until `heldUntil`. If the same
    /// process asks again for the same use before that, a server has refused the token, and the daemon gets another one.
    ///
    /// - Parameter use: what the program uses the token for; nil if it does not say.
    static func kept(
        for use: String?,
        _ request: TokenRequest,
        from daemon: inout DaemonConnection
    ) throws(Report) -> ToolToken {
        // At most 4000 bytes, of the 4096 that the daemon takes.
        let use = use.map { String($0.unicodeScalars.prefix(1000)) }
        var request = request
        request.holder = TokenHolder(process: Surroundings.real.parentProcess, use: use)
        do throws(Report) {
            return try ToolToken(request, from: &daemon)
        } catch  where error.reply?.refusedParameter == "holder" {
            // An older daemon. It may still run after an upgrade, or behind a forwarded socket.
            request.holder = nil
            return try ToolToken(request, from: &daemon)
        }
    }

    /// When the token expires, in whole seconds since 1970, rounded down so that the token does not seem to live longer
    /// than it does.
    var expiresAt: Int64 { expiresAtUSec / 1_000_000 }

    /// When its holder should ask for the next one, in whole seconds since 1970.
    var heldUntil: Int64 { heldUntilUSec.map { $0 / 1_000_000 } ?? expiresAt }
}
