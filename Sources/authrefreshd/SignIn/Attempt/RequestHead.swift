internal import TextEncodings

/// The first lines of a request, as a listener reads them off a connection.
struct RequestHead: Sendable {
    /// `GET`.
    let method: String
    /// `/callback?code=…`.
    let target: String
    /// The header fields in the order in which they came.
    let fields: [(name: String, value: String)]

    /// The values of all fields with this name, which is in lower case; empty if there is none (RFC 9110 §5.1).
    func values(of name: String) -> [String] {
        fields.filter { $0.name.lowercased() == name }.map(\.value)
    }

    /// What a request is.
    enum Outcome: Equatable {
        /// The query, without the question mark.
        case query(Substring)
        /// The body, which is still to come.
        case form
        /// It delivers nothing. This is the status code of the answer to the browser (RFC 9110 §15.5).
        case refused(status: Int)
    }

    /// Decides whether the request may deliver an answer, without reading the answer.
    ///
    /// - Parameters:
    ///   - path: the only path that accepts deliveries.
    ///   - port: the listener's own port.
    func outcome(at path: String, port: Int) -> Outcome {
        // A page of another site may have made its own name resolve to 127.0.0.1 (DNS rebinding). The browser then
        // sends that name.
        let hosts = values(of: "host")
        guard hosts.count == 1, let host = hosts.first, isOurs(host, port: port) else { return .refused(status: 421) }
        let target = self.target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        guard target.first.map(String.init) == path else { return .refused(status: 404) }
        // A request that a page makes in the background does not come from a person who was sent back. Browsers that do
        // not send the header are accepted.
        if let destination = values(of: "sec-fetch-dest").first, destination != "document" {
            return .refused(status: 403)
        }
        switch method {
        case "GET": return .query(target.count > 1 ? target[1] : "")
        // OAuth 2.0 Form Post Response Mode §2.
        case "POST": return isForm ? .form : .refused(status: 415)
        default: return .refused(status: 405)
        }
    }

    private func isOurs(_ host: String, port: Int) -> Bool {
        // RFC 9110 §7.2: without a port, the scheme's port is meant.
        let host = host.lowercased()
        let end = ":\(port)"
        guard host.hasSuffix(end) else { return port == 80 && LoopbackURI.isListener(host) }
        return LoopbackURI.isListener(host.dropLast(end.count))
    }

    private var isForm: Bool {
        let type = values(of: "content-type").first?.split(separator: ";").first
        return type?.lowercased() == "application/x-www-form-urlencoded"
    }
}
