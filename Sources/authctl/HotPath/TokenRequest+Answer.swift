internal import AuthRefreshInterface
internal import VarlinkClient

extension TokenRequest {
    /// Seconds that a token may fall short of what was asked for without a word: its way here takes time, and a server's word on
    /// a lifetime is in whole seconds.
    private static let slack: Int64 = 5

    /// Acquires the token, and hands over the text for standard output.
    ///
    /// Nothing of it is taken apart before `deliver` returns: an end of the process there saves that.
    func answer(_ deliver: (String) throws(AuthctlError) -> Void) throws(AuthctlError) {
        if format.needsUser { _ = try saslUser() }
        var daemon = try DaemonConnection(socket: socket)
        let token = try acquire(from: &daemon)
        let text = try token.text(for: self)
        warnIfShort(token)
        try withExtendedLifetime(token) { () throws(AuthctlError) in try deliver(text) }
    }

    /// Acquires the token on a connection that others may use after it.
    func acquire(from daemon: inout DaemonConnection) throws(AuthctlError) -> AcquiredToken {
        try AcquiredToken(
            reply: daemon.ask(.acquireToken, json: parameters, patience: DaemonConnection.refreshPatience)
        )
    }

    /// A token that is valid for less than was asked for is worth more than none, but not in silence.
    func warnIfShort(_ token: AcquiredToken) {
        guard let minimumValidity else { return }
        let left = LocalTime.now.seconds(until: token.expiresAtUSec)
        guard left < minimumValidity - Self.slack else { return }
        let asked = LocalTime.length(minimumValidity)
        StandardError.warn("the token is valid for \(LocalTime.length(left)) only, \(asked) was asked for")
    }

    private var parameters: String {
        var object = JSONObjectText()
        object.add("account", JSONText.quote(account))
        object.add("audience", audience.map(JSONText.quote))
        object.add("force", force ? "true" : nil)
        object.add("minimumValiditySec", minimumValidity.map { String($0) })
        object.add("resources", Self.array(resources))
        object.add("scopes", Self.array(scopes))
        return object.text
    }

    /// Nil if there is nothing to name.
    private static func array(_ texts: [String]) -> String? {
        texts.isEmpty ? nil : JSONText.array(texts)
    }
}
