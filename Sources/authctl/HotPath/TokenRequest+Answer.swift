internal import AuthRefreshInterface
internal import VarlinkClient

extension TokenRequest {
    /// Acquires the token; the text for standard output.
    func answer() throws(AuthctlError) -> String {
        if format.needsUser { _ = try saslUser() }
        var daemon = try DaemonConnection(socket: socket)
        let reply = try daemon.ask(.acquireToken, json: parameters, patience: DaemonConnection.refreshPatience)
        return try AcquiredToken(reply: reply).text(for: self)
    }

    private var parameters: String {
        var object = JSONObjectText()
        object.add("account", JSONText.quote(account))
        object.add("force", force ? "true" : nil)
        object.add("minimumValiditySec", minimumValidity.map { String($0) })
        return object.text
    }
}
