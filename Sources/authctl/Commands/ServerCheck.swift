internal import AuthRefreshInterface
internal import Basics
internal import TextEncodings

/// The daemon's result of checking the server of a new account.
extension CheckServer.Reply {
    /// What is wrong with the server, in one sentence; nil if nothing is.
    var fault: String? {
        contradiction.map { "'\(PlainText.line(issuer))' cannot be the issuer: \(PlainText.line($0))" }
    }

    /// The option that names the right server; nil if that is unknown.
    var better: (option: String, value: String)? {
        if let provider = otherProvider { return ("--provider", provider) }
        return otherIssuer.map { ("--issuer", $0) }
    }

    /// Shows useful facts that do not speak against the server.
    ///
    /// - Parameter isProviderNamed: whether the person named the profile.
    func tell(isProviderNamed: Bool) {
        if let reason = unreachable {
            StandardError.warn("'\(PlainText.line(issuer))' could not be asked: \(PlainText.line(reason))")
        }
        if !isProviderNamed, let provider {
            let name = PlainText.line(provider)
            StandardError.note(
                "this server has the provider profile '\(name)', which is used: \(Command("provider", "show", name))"
            )
        }
    }

    /// Refuses the wrong server.
    ///
    /// - Parameter arguments: the command's arguments, from which the right command is made.
    func refuse(arguments: [String]) throws(Report) {
        guard let fault else { return }
        var hints = better.flatMap { Self.command(arguments, with: $0) }.map { [Hint($0)] } ?? []
        if hints.isEmpty, let provider {
            let command = Command("provider", "show", PlainText.line(provider))
            hints = ["'\(command)' says what it needs to know"]
        } else if hints.isEmpty {
            hints = ["to look for the issuer: \(Command("provider", "discover", "URL"))"]
        }
        // A sign-in and a registration ask the server in any case.
        let asksAnyway = arguments.contains { $0 == "login" || $0 == "--register" || $0.hasPrefix("--resource-server") }
        if !asksAnyway {
            hints.append("to add it without asking the server: --offline")
        }
        throw Report(status: .badData, name: "authctl.WrongIssuer", message: fault, hints: hints)
    }

    /// The command with the other server; nil if its server is not named by an option.
    static func command(_ arguments: [String], with server: (option: String, value: String)) -> Command? {
        var words = arguments
        guard let place = words.firstIndex(where: { $0 == "--issuer" || $0.hasPrefix("--issuer=") }) else { return nil }
        let isJoined = words[place] != "--issuer"
        guard isJoined || place + 1 < words.count else { return nil }
        words.replaceSubrange(place..<place + (isJoined ? 1 : 2), with: [server.option, server.value])
        return Command(words: words.map(PlainText.line))
    }
}

extension DaemonConnection {
    /// Makes the daemon check the server of an account with these settings.
    ///
    /// - Returns: nil if it was not checked, because the daemon is older, or is asking too many servers.
    /// - Throws: the daemon's error if the settings are invalid; connection errors.
    mutating func check(_ settings: AccountSettings) throws(Report) -> CheckServer.Reply? {
        let parameters = CheckServer.Parameters(
            issuer: settings.issuer,
            provider: settings.provider,
            variables: settings.variables,
            providerSettings: settings.providerSettings
        )
        do throws(Report) {
            let server = settings.issuer.map(ShownHost.of) ?? settings.provider ?? ""
            return try ask(
                parameters,
                patience: Self.refreshPatience,
                waitingFor: "the authorization server \(PlainText.line(server))"
            )
        } catch {
            let known = [LimitExceededError.name, "org.varlink.service.MethodNotFound"]
            guard let reply = error.reply, known.contains(reply.name) else { throw error }
            return nil
        }
    }
}
