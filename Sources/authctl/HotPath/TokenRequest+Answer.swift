internal import AuthRefreshInterface
internal import VarlinkClient

extension TokenRequest {
    /// Acquires the token; the text for standard output.
    func answer() throws(AuthctlError) -> String {
        var daemon = try DaemonConnection(socket: socket)
        let reply = try daemon.ask(.acquireToken, json: parameters, patience: DaemonConnection.refreshPatience)
        guard let token = reply["accessToken"]?.string, Self.isPrintable(token),
            let type = reply["tokenType"]?.string, Self.isPrintable(type),
            let end = reply["expiresAtUSec"]?.integer
        else { throw .connection(.unreadableReply) }
        return switch format {
        case .raw: "\(token)\n"
        case .header: "Authorization: \(type) \(token)\n"
        case .json:
            JSONText.object([
                ("accessToken", JSONText.quote(token)),
                ("expiresAtUSec", String(end)),
                ("tokenType", JSONText.quote(type)),
            ]) + "\n"
        }
    }

    private var parameters: String {
        JSONText.object([
            ("account", JSONText.quote(account)),
            ("force", force ? "true" : nil),
            ("minimumValiditySec", minimumValidity.map { String($0) }),
        ])
    }

    /// RFC 6749 §A.12: an access token is visible ASCII and space. A line break in it would forge a second header.
    private static func isPrintable(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { (0x20...0x7E).contains($0) }
    }
}
