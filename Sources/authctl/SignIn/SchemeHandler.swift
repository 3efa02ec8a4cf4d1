internal import AuthRefreshInterface
internal import Basics

/// Makes the desktop pass addresses with a URI scheme to `authctl callback`.
enum SchemeHandler {
    /// The desktop entry that `systemd/install` adds to the user's applications.
    static let entry = "authctl-callback.desktop"

    /// The result of a registration.
    enum Outcome: Equatable, Sendable {
        case already
        /// `previous` is the program that handled the scheme before.
        case registered(previous: String?)
        /// Neither the person nor the provider's profile names the scheme.
        case notNamed(scheme: String)
        /// It failed; the reason is one sentence.
        case refused(reason: String)
    }

    /// Registers `authctl` for the scheme, unless it is registered already.
    ///
    /// - Parameters:
    ///   - redirectURI: the address to which the authorization server sends the browser.
    ///   - isNamed: whether the person, or the provider's profile, names the scheme. An account's settings do not count,
    ///     because every program can write them, and the scheme may belong to another application.
    static func register(for redirectURI: String, isNamed: Bool, in surroundings: Surroundings) -> Outcome {
        let scheme = redirectURI.prefix { $0 != ":" }.lowercased()
        // RFC 3986 §3.1. Schemes that the desktop itself needs are never taken over.
        guard scheme.wholeMatch(of: /[a-z][a-z0-9+.-]*/) != nil, !reserved.contains(scheme) else {
            return .refused(reason: "'\(PlainText.line(scheme))' is not a URI scheme that an application can have")
        }
        let type = "x-scheme-handler/\(scheme)"
        guard isNamed else {
            return isChosen(for: type, in: surroundings) ? .already : .notNamed(scheme: scheme)
        }
        guard surroundings.program(named: "xdg-mime") != nil else {
            return .refused(
                reason: "xdg-mime is not installed, so the desktop cannot be told who takes '\(scheme):' addresses"
            )
        }
        guard isInstalled(in: surroundings) else {
            let installer = surroundings.installer.text(by: .here)
            return .refused(reason: "\(entry) is not among your applications; run \(installer)")
        }
        let present = surroundings.run(["xdg-mime", "query", "default", type]).text.prefix { $0 != "\n" }
        guard present != entry else { return .already }
        guard surroundings.run(["xdg-mime", "default", entry, type]).end == .exited(0) else {
            return .refused(reason: "xdg-mime does not accept '\(entry)' for '\(scheme):' addresses")
        }
        return .registered(previous: present.isEmpty ? nil : String(present))
    }

    /// Registers the scheme, and tells the person the result.
    static func registerAndTell(for redirectURI: String, isNamed: Bool = true) {
        switch register(for: redirectURI, isNamed: isNamed, in: .real) {
        case .already: break
        case .registered(let previous):
            noteTaken(redirectURI, from: previous)
        case .notNamed(let scheme):
            StandardError.warn(
                "the desktop does not hand '\(scheme):' addresses to authctl; if the scheme is yours: "
                    + Hint(Command(program: "xdg-mime", "default", entry, "x-scheme-handler/\(scheme)"))
            )
        case .refused(let reason):
            StandardError.warn("\(reason); pass the address on yourself: \(Command("callback", "URL"))")
        }
    }

    /// Makes the desktop pass addresses of the user's own pages, `io.authrefresh:https://app.example/back?code=…`, to
    /// `authctl callback`, if there is a desktop. The result is not reported, because nobody else uses the scheme, and the
    /// address can also be pasted.
    static func registerOwn(on place: SignInPlace) {
        guard place == .desktop else { return }
        _ = register(for: "io.authrefresh:", isNamed: true, in: .real)
    }

    /// Registers the scheme of settings that the person has just given on the command line. If that fails, the sign-in
    /// says so.
    static func register(for settings: AccountSettings) {
        let uri = settings.redirectUri.flatMap { $0.lowercased().hasPrefix("http") ? nil : $0 }
        guard let named = settings.redirectScheme.map({ "\($0):" }) ?? uri,
            case .registered(let previous) = register(for: named, isNamed: true, in: .real)
        else { return }
        noteTaken(named, from: previous)
    }

    private static func noteTaken(_ uri: String, from previous: String?) {
        let instead = previous.map { ", instead of '\($0)'" } ?? ""
        StandardError.note("the desktop now hands addresses like '\(PlainText.line(uri))' to authctl\(instead)")
    }

    private static let reserved: Set<String> = [
        "about", "blob", "data", "file", "ftp", "http", "https", "javascript", "mailto",
    ]

    /// Whether the person's own list of default applications says so, where xdg-mime writes it.
    private static func isChosen(for type: String, in surroundings: Surroundings) -> Bool {
        let list = surroundings.settingsFolder.flatMap { surroundings.text("\($0)/mimeapps.list") } ?? ""
        return list.split(whereSeparator: \.isNewline).contains { $0.hasPrefix("\(type)=\(entry)") }
    }

    private static func isInstalled(in surroundings: Surroundings) -> Bool {
        DesktopEntry.folders(in: surroundings).contains { surroundings.file("\($0)/\(entry)")?.kind == .regular }
    }
}
