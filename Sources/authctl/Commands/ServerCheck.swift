internal import AuthRefreshInterface
internal import Terminal
internal import TextEncodings

/// What the daemon has found out about the server of an account that is to be added.
struct ServerCheck {
    let reply: CheckServer.Reply

    /// What speaks against the server, in one sentence; nil if nothing does.
    var contradiction: String? {
        reply.contradiction.map {
            "'\(PlainText.line(reply.issuer))' cannot be the issuer: \(PlainText.line($0))"
        }
    }

    /// What the server would be named by instead, as options; nil if nobody knows.
    var better: (option: String, value: String)? {
        if let provider = reply.otherProvider { return ("--provider", provider) }
        return reply.otherIssuer.map { ("--issuer", $0) }
    }

    /// Tells what is good to know, and speaks against nothing.
    ///
    /// - Parameter isProviderNamed: whether the person has named the profile.
    func tell(isProviderNamed: Bool) {
        if let reason = reply.unreachable {
            StandardError.warn(.serverNotAsked(issuer: PlainText.line(reply.issuer), reason: PlainText.line(reason)))
        }
        if !isProviderNamed, let provider = reply.provider {
            StandardError.note(.knownServer(provider: PlainText.line(provider)))
        }
    }

    /// Refuses a server that is not the one.
    ///
    /// - Parameter arguments: the command's, of which the right ones are made.
    /// - Throws: `wrongIssuer`.
    func refuse(arguments: [String]) throws(AuthctlError) {
        guard let contradiction else { return }
        var hints = better.flatMap { Self.command(arguments, with: $0) }.map { [$0] } ?? []
        if hints.isEmpty, let provider = reply.provider {
            hints = ["'authctl provider show \(PlainText.line(provider))' says what it needs to know"]
        } else if hints.isEmpty {
            hints = ["to look for the issuer: authctl provider discover URL"]
        }
        // A sign-in asks it in any case.
        if !arguments.contains("login") { hints.append("to add it without asking the server: --offline") }
        throw .wrongIssuer(message: contradiction, hints: hints)
    }

    /// The command with another server named in it; nil if it names none by an option.
    static func command(_ arguments: [String], with server: (option: String, value: String)) -> String? {
        var words = arguments
        let value = quoted(server.value)
        guard let place = words.firstIndex(where: { $0 == "--issuer" || $0.hasPrefix("--issuer=") }) else { return nil }
        let isJoined = words[place] != "--issuer"
        guard isJoined || place + 1 < words.count else { return nil }
        words.replaceSubrange(place..<place + (isJoined ? 1 : 2), with: [server.option, server.value])
        let shown = words.enumerated().map { $0.offset == place + 1 ? value : quoted($0.element) }
        return "authctl " + shown.joined(separator: " ")
    }

    /// A word as a shell reads it.
    private static func quoted(_ word: String) -> String {
        let word = PlainText.line(word)
        let isPlain =
            !word.isEmpty
            && word.unicodeScalars.allSatisfy { scalar in
                switch scalar {
                case "a"..."z", "A"..."Z", "0"..."9": true
                default: "-._/:=@+,%".unicodeScalars.contains(scalar)
                }
            }
        return isPlain ? word : "'" + word.replacing("'", with: #"'\''"#) + "'"
    }
}

extension DaemonConnection {
    /// Has the server asked that an account of these settings would have.
    ///
    /// - Returns: nil if it was not: the daemon is of an earlier version, or asks as many servers as it may.
    /// - Throws: `refused` if the settings cannot be used; anything about the connection.
    mutating func check(_ settings: AccountSettings) throws(AuthctlError) -> ServerCheck? {
        let parameters = CheckServer.Parameters(
            issuer: settings.issuer,
            provider: settings.provider,
            variables: settings.variables,
            providerSettings: settings.providerSettings
        )
        do throws(AuthctlError) {
            let server = settings.issuer.map(ShownHost.of) ?? settings.provider ?? ""
            return ServerCheck(
                reply: try ask(
                    .checkServer,
                    parameters,
                    for: CheckServer.Reply.self,
                    patience: Self.refreshPatience,
                    waitingFor: "the authorization server \(PlainText.line(server))"
                )
            )
        } catch {
            guard case .refused(let refusal) = error,
                [LimitExceededError.name, "org.varlink.service.MethodNotFound"].contains(refusal.name)
            else { throw error }
            return nil
        }
    }
}
