internal import NIOHTTP1

/// Says of a request whether it delivers something, before anybody looks at what that is.
struct RequestScreen: Sendable {
    /// The one path that takes deliveries.
    let path: String

    enum Outcome: Equatable {
        /// What stands behind the question mark.
        case query(Substring)
        /// The body is the delivery.
        case form
        case refused(RedirectRefusal)
    }

    /// - Parameter port: the listener's own.
    func outcome(of head: HTTPRequestHead, port: Int) -> Outcome {
        // A page of another site may have made its own name resolve to 127.0.0.1 (DNS rebinding): the browser then sends that name.
        let hosts = head.headers["Host"]
        guard hosts.count == 1, let host = hosts.first, isOurs(host, port: port) else { return .refused(.wrongHost) }
        let target = head.uri.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        guard target.first.map(String.init) == path else { return .refused(.noSuchPage) }
        // What a page fetches in the background is no person being sent back. Browsers that say nothing are taken at their word.
        if let destination = head.headers.first(name: "Sec-Fetch-Dest"), destination != "document" {
            return .refused(.notNavigated)
        }
        switch head.method {
        case .GET: return .query(target.count > 1 ? target[1] : "")
        // OAuth 2.0 Form Post Response Mode §2.
        case .POST: return isForm(head) ? .form : .refused(.noForm)
        default: return .refused(.wrongMethod)
        }
    }

    private func isOurs(_ host: String, port: Int) -> Bool {
        // RFC 9110 §7.2: without a port, the scheme's.
        let names = ["127.0.0.1", "[::1]", "localhost"]
        return names.contains { host.lowercased() == "\($0):\(port)" || port == 80 && host.lowercased() == $0 }
    }

    private func isForm(_ head: HTTPRequestHead) -> Bool {
        let type = head.headers.first(name: "Content-Type")?.split(separator: ";").first
        return type?.lowercased() == "application/x-www-form-urlencoded"
    }
}

/// Why a request delivers nothing.
enum RedirectRefusal: Hashable, CaseIterable {
    case wrongHost
    case noSuchPage
    case notNavigated
    case noForm
    case wrongMethod
    case tooLarge
    /// It is no HTTP.
    case unreadable

    var status: HTTPResponseStatus {
        switch self {
        case .wrongHost: .misdirectedRequest
        case .noSuchPage: .notFound
        case .notNavigated: .forbidden
        case .noForm: .unsupportedMediaType
        case .wrongMethod: .methodNotAllowed
        case .tooLarge: .payloadTooLarge
        case .unreadable: .badRequest
        }
    }

    var page: RedirectPage {
        switch self {
        case .noSuchPage:
            RedirectPage(
                .notice,
                title: "There is no such page",
                text: "A sign-in is under way on this machine, and waits for its answer at another address.",
                advice: "Go on in the window in which you were signing in."
            )
        case .wrongHost, .notNavigated, .noForm, .wrongMethod, .tooLarge, .unreadable:
            RedirectPage(
                .failure,
                title: "This is no answer to a sign-in",
                text: "What the browser sent here was not looked at. The sign-in that is under way goes on.",
                advice: "Go on in the window in which you were signing in."
            )
        }
    }
}
