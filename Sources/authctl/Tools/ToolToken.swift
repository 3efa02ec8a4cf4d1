internal import AuthRefreshInterface

/// A token on its way into another program: an access token, or the account's ID token.
struct ToolToken {
    /// The token itself.
    let secret: SecretText
    /// µs since 1970.
    let expiresAtUSec: Int64

    /// Acquires what `request` asks for.
    ///
    /// - Throws: `boundToken` if nobody but the holder of the account's key can use the token.
    init(_ request: TokenRequest) throws(AuthctlError) {
        var daemon = try DaemonConnection(socket: request.socket)
        try self.init(request, from: &daemon)
    }

    /// The same, on a connection that others may use after it.
    init(_ request: TokenRequest, from daemon: inout DaemonConnection) throws(AuthctlError) {
        if request.idToken {
            let token = try PrintedIDToken(request, from: &daemon).token
            (secret, expiresAtUSec) = (SecretText(token.token), token.expiresAtUSec)
        } else {
            let token = try request.acquire(from: &daemon)
            guard token.tokenType.lowercased() != "dpop" else { throw .boundToken(account: request.account) }
            request.warnIfShort(token)
            (secret, expiresAtUSec) = (SecretText(token.accessToken), token.expiresAtUSec)
        }
    }

    /// When the token ends, in whole seconds since 1970; rounded down, so that a token is not promised longer than it lives.
    var expiresAt: Int64 { expiresAtUSec / 1_000_000 }
}

/// Variables by which tools say what they want.
enum ToolEnvironment {
    /// Nil if the variable is not set, or empty.
    static func value(_ name: String) -> String? { Surroundings.real.environment(name) }
}
