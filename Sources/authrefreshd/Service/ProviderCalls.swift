internal import AuthRefreshInterface
internal import Basics
internal import OAuthClient
internal import OAuthMessages
internal import RefreshCore
internal import Varlink

/// The calls about provider profiles.
extension RefreshCoordinator {
    func discoverProvider(_ asked: DiscoverProvider.Parameters, _ responder: VarlinkResponder) throws(VarlinkError) {
        guard let issuer = try? Issuer(url: asked.url) else {
            throw Complaint(field: "url", "it is not the https URL of an issuer", hint: "https://issuer.example").error
        }
        // The name becomes a file name, and a word in YAML.
        guard asked.name.map({ AccountName($0) != nil && !$0.contains("@") && !$0.contains("+") }) ?? true else {
            throw Complaint(
                field: "profile",
                "it cannot be the name of a profile",
                hint: "letters, digits and ._-"
            ).error
        }
        try ask(for: responder) { [client] () throws(VarlinkError) in
            do throws(MetadataError) {
                let profile = try await client.inspection.discover(at: issuer, name: asked.name)
                return DiscoverProvider.Reply(profile: profile)
            } catch {
                throw VarlinkError(undiscovered: error, at: asked.url)
            }
        }
    }

    /// Asks the server of a future account.
    func checkServer(_ asked: CheckServer.Parameters, _ responder: VarlinkResponder) throws(VarlinkError) {
        var settings = self.settings
        let profiles = settings.profiles
        if let lookUp = asked.provider.flatMap(profiles.named)?.lookUp(for: asked.variables ?? [:]) {
            return try look(up: lookUp, asked, responder)
        }
        let choice = try Self.choice(asked, SettingsReader(profiles: profiles))
        let issuer = choice.issuer
        let profile = settings.profile(for: choice)
        let name = profiles.profile(provider: choice.provider, issuer: issuer)?.name
        var reply = CheckServer.Reply(issuer: issuer.url, provider: name)
        // This is known without the server, which may be out of reach now.
        if name == nil, let known = profiles.profileBesideSlash(of: issuer) {
            let url = known.issuerText ?? ""
            reply.contradiction = "the provider profile '\(known.name)' says that its issuer is '\(url)'"
            reply.otherProvider = known.name
            return responder.reply(reply)
        }
        try ask(about: issuer, profile, reply, responder) { finding, reply in
            switch finding {
            case .unreachable(let reason): reply.unreachable = reason
            case .contradicted(let reason, let other):
                reply.contradiction = reason
                reply.otherIssuer = other?.url
                reply.otherProvider = name == nil ? profiles.nameForHost(of: issuer) : nil
            case nil: break
            }
        }
    }

    /// Asks the server for the value of a variable, by the name that people have for it.
    private func look(
        up lookUp: VariableLookUp,
        _ asked: CheckServer.Parameters,
        _ responder: VarlinkResponder
    ) throws(VarlinkError) {
        let reply = CheckServer.Reply(issuer: lookUp.asked.url, provider: asked.provider)
        try ask(about: lookUp.asked, nil, reply, responder) { finding, reply in
            switch finding {
            case .unreachable(let reason): reply.unreachable = reason
            case .contradicted(let reason, let other):
                guard let other, let value = lookUp.value(in: other) else { return reply.contradiction = reason }
                reply.issuer = other.url
                reply.variables = (asked.variables ?? [:]).merging([lookUp.variable.name: value]) { $1 }
            case nil: reply.contradiction = "the server has no other name for the \(lookUp.variable.name)"
            }
        }
    }

    /// Asks the server at `issuer`, in parallel with later calls, and answers with the completed reply.
    private func ask(
        about issuer: Issuer,
        _ profile: ProviderProfile?,
        _ reply: CheckServer.Reply,
        _ responder: VarlinkResponder,
        complete: @escaping @Sendable (IssuerFinding?, inout CheckServer.Reply) -> Void
    ) throws(VarlinkError) {
        var reply = reply
        guard host.isOnline || issuer.isLoopback else {
            reply.unreachable = "there is no network"
            return responder.reply(reply)
        }
        try ask(for: responder) { [client, reply] in
            var reply = reply
            let finding = await client.inspection.finding(about: issuer, profile: profile)
            let scopes = finding == nil ? await client.inspection.scopes(of: issuer, profile: profile) : []
            reply.offlineAccess = scopes.contains(TokenTarget.offlineAccess) ? true : nil
            complete(finding, &reply)
            return reply
        }
    }

    private static func choice(
        _ asked: CheckServer.Parameters,
        _ reader: SettingsReader
    ) throws(VarlinkError) -> ProfileChoice {
        let said = AccountSettings(name: "") {
            $0.issuer = asked.issuer
            $0.provider = asked.provider
            $0.variables = asked.variables
            $0.providerSettings = asked.providerSettings
        }
        try reader.checkBounds(of: said)
        return try reader.choice(said)
    }

    func listProviders(_: ListProviders.Parameters) throws(VarlinkError) -> ListProviders.Reply {
        let profiles = settings.profiles
        return ListProviders.Reply(
            providers: profiles.names.compactMap { name in
                guard let profile = profiles.named(name) else { return nil }
                return ProviderDescription(profile, path: profiles.path(of: name), text: profiles.text(of: name))
            }
        )
    }
}

extension ProviderDescription {
    fileprivate init(_ profile: ProviderProfile, path: String, text: String?) {
        let required = profile.requiredSettings.map { $0.field }
        let scopesFor = profile.scopesByPurpose.sorted { $0.key < $1.key }
        self.init(
            name: profile.name,
            path: path,
            text: text,
            documentation: profile.documentation,
            clientIdHint: profile.clientIDHint,
            variables: profile.variables.isEmpty ? nil : profile.variables.map(ProviderVariable.init),
            issuer: profile.issuerText,
            tokenEndpoint: profile.text("token_endpoint", profile.tokenEndpoint),
            clientAuthentication: profile.authentication?.rawValue,
            scopes: profile.signIn.scopes.isEmpty ? nil : profile.signIn.scopes,
            requiredSettings: required.isEmpty ? nil : required,
            scopesFor: scopesFor.isEmpty ? nil : scopesFor.map { PurposeScopes(purpose: $0.key, scopes: $0.value) },
            notes: profile.notes.isEmpty
                ? nil : profile.notes.map { ProviderNote(about: $0.topic.rawValue, text: $0.text) }
        )
    }
}

extension ProviderVariable {
    fileprivate init(_ variable: ProfileVariable) {
        self.init(
            name: variable.name,
            help: variable.help,
            default: variable.standard,
            pattern: variable.pattern,
            aliases: variable.aliases.isEmpty ? nil : variable.aliases
        )
    }
}

extension VarlinkError {
    /// The error if nothing could be found out about the server at `url`.
    fileprivate init(undiscovered error: MetadataError, at url: String) {
        let detail = error.refreshFailure.detail
        let reason = [detail.summary, detail.oauthErrorDescription].compactMap { $0 }.joined(separator: ": ")
        guard !error.willPass else {
            let hint: Hint = "check the URL and the network, or try again later"
            self = ServerUnavailableError(url: url, reason: reason, hint: hint).error
            return
        }
        self =
            Complaint(
                field: "url",
                reason,
                hint: "give the issuer's own URL, or name its endpoints in a profile"
            ).error
    }
}
