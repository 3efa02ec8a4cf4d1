internal import Terminal

/// Makes the desktop pass addresses with a URI scheme to `authctl callback`.
enum SchemeHandler {
    /// The desktop entry that `systemd/install` adds to the user's applications.
    static let entry = "authctl-callback.desktop"

    /// The result of a registration.
    enum Outcome: Equatable, Sendable {
        case already
        /// `previous` is the program that handled the scheme before.
        case registered(previous: String?)
        /// It failed; the reason is one sentence.
        case refused(reason: String)
    }

    /// Registers `authctl` for the scheme, unless it is registered already.
    ///
    /// - Parameter redirectURI: the address to which the authorization server sends the browser.
    static func register(for redirectURI: String, in surroundings: Surroundings) -> Outcome {
        let scheme = redirectURI.prefix { $0 != ":" }.lowercased()
        // RFC 3986 §3.1. Schemes that the desktop itself needs are never taken over.
        guard scheme.wholeMatch(of: /[a-z][a-z0-9+.-]*/) != nil, !reserved.contains(scheme) else {
            return .refused(reason: "'\(PlainText.line(scheme))' is not a URI scheme that an application can have")
        }
        guard surroundings.program(named: "xdg-mime") != nil else {
            return .refused(
                reason: "xdg-mime is not installed, so the desktop cannot be told who takes '\(scheme):' addresses"
            )
        }
        guard isInstalled(in: surroundings) else {
            return .refused(reason: "\(entry) is not among your applications; run systemd/install")
        }
        let type = "x-scheme-handler/\(scheme)"
        let present = surroundings.run(["xdg-mime", "query", "default", type]).text.prefix { $0 != "\n" }
        guard present != entry else { return .already }
        guard surroundings.run(["xdg-mime", "default", entry, type]).end == .exited(0) else {
            return .refused(reason: "xdg-mime does not accept '\(entry)' for '\(scheme):' addresses")
        }
        return .registered(previous: present.isEmpty ? nil : String(present))
    }

    /// Registers the scheme, and tells the person the result.
    static func registerAndTell(for redirectURI: String) {
        switch register(for: redirectURI, in: .real) {
        case .already: break
        case .registered(let previous):
            StandardError.note(.schemeTaken(uri: PlainText.line(redirectURI), previous: previous))
        case .refused(let reason): StandardError.warn(.schemeNotTaken(reason: reason))
        }
    }

    private static let reserved: Set<String> = [
        "about", "blob", "data", "file", "ftp", "http", "https", "javascript", "mailto",
    ]

    /// Searches the folders of the XDG base directory specification.
    private static func isInstalled(in surroundings: Surroundings) -> Bool {
        let home = surroundings.environment("HOME").map { "\($0)/.local/share" }
        let own = surroundings.environment("XDG_DATA_HOME") ?? home
        let shared = surroundings.environment("XDG_DATA_DIRS") ?? "/usr/local/share:/usr/share"
        let folders = [own].compactMap(\.self) + shared.split(separator: ":").map(String.init)
        return folders.contains { surroundings.file("\($0)/applications/\(entry)")?.kind == .regular }
    }
}
