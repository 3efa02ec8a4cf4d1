internal import AccountStorage
internal import Basics
internal import OAuthClient
internal import OAuthMessages
internal import RefreshCore

extension AccountSnapshot {
    /// The command that helps; nil if none is needed.
    var hint: Hint? {
        switch shown {
        // Ask for a new client secret while the server still accepts the old one.
        case .fresh where needsClientSecret:
            account.registration.isSelfRegistered
                ? "\(account.name.edit("--client-secret-file", "FILE")), or "
                    + "\(account.name.edit("--register")) for a new client"
                : Hint(account.name.edit("--client-secret-file", "FILE"))
        // The server may mean it, although it is not believed yet. A sign-in ends the doubt.
        case .retrying where isForgotten: account.newClientHint
        case .fresh where lacksRefreshToken && consentMayHelp || lacksScopes: Hint(loginAgain)
        case .fresh where grantEnd != nil && lifetimeNote != nil:
            "\(Command("login", account.name.text)), before then"
        case .retrying where failure?.detail.finding == .clientAssertion: account.name.assertionHint
        case .retrying where signInMayHelp: "if this continues: \(Command("login", account.name.text))"
        case .retrying where state.refusal?.isForSettings == true:
            failure.map {
                "if this continues: " + $0.detail.remedy(for: account.name, by: account.registration.serviceGrant)
            }
        case .fresh, .refreshing, .retrying: nil
        case .parked where state.phase == .parked(.otherMachine):
            "\(Command("account", "resume", account.name.text)), if the other machine no longer uses it"
        case .parked:
            "\(Command("account", "remove", account.name.text)), or "
                + Hint(Command("account", "resume", account.name.text))
        case .signedOut where account.registration.serviceGrant != nil: Hint(Command("refresh", account.name.text))
        case .interactionRequired where account.registration.serviceGrant?.exchange != nil:
            account.registration.serviceGrant?.exchange.map { exchange in
                let source = failure.flatMap { exchange.source(atFaultIn: $0.detail) }
                return Hint(Command("login", (source ?? exchange.subject.account).text))
            }
        case .interactionRequired where state.interaction?.reason == .noRefreshToken: Hint(loginAgain)
        case .interactionRequired, .refreshTokenExpiring, .signedOut:
            failure?.detail.remedyOfCodes(for: account.name, then: Command("refresh", account.name.text))
                ?? Hint(Command("login", account.name.text))
        case .misconfigured where isForgotten: account.newClientHint
        case .misconfigured: failure?.detail.remedy(for: account.name, by: account.registration.serviceGrant)
        }
    }
}

extension AccountSnapshot {
    /// Whether the server no longer accepts the client that it registered for the account.
    private var isForgotten: Bool { account.registration.isForgotten(after: failure?.detail, at: at.wall) }
}

extension Account {
    /// What gives the account a client that the server knows.
    fileprivate var newClientHint: Hint {
        registration.serviceGrant == nil
            ? "\(Command("login", name.text)), which registers a new client"
            : Hint(name.edit("--register"))
    }
}

extension AccountName {
    /// The command that changes the account.
    fileprivate func edit(_ options: String...) -> Command {
        Command(words: ["account", "edit", text] + options)
    }

    /// What helps an account whose client cannot prove itself with the file of its assertion.
    fileprivate var assertionHint: Hint {
        "look at the program that writes the file, or name another one: "
            + Hint(edit("--client-assertion-file", "FILE"))
    }
}

extension DamagedAccount {
    /// What is damaged, without a value.
    var reason: String { "its row in the store is damaged: \(cause)" }

    /// The way out that loses least.
    var hint: Hint {
        // The name may be anything.
        let remove =
            AccountName(name) == nil
            ? Command("account", "remove", path: name) : Command("account", "remove", name)
        return "\(Command("store", "backup", "FILE")), then \(remove), and add it again; or stop the daemon and "
            + "restore an earlier backup: \(Command("store", "restore", "FILE"))"
    }
}

extension FailureDetail {
    /// What helps an account that is misconfigured: a command that changes what the server refuses, or where to look.
    ///
    /// Never the command that shows the account, whose own answer this is a part of.
    /// - Parameter grant: how a service account obtains its tokens; nil for the account of a person.
    func remedy(for account: AccountName, by grant: ServiceGrant? = nil) -> Hint {
        if oauthError?.lowercased() == "invalid_grant", grant?.assertion != nil {
            return "\(account.edit("--client-key-file", "FILE")), --assertion-subject or --assertion-audience; or set "
                + "this machine's clock"
        }
        if let exchange = grant?.exchange {
            if let source = exchange.source(atFaultIn: self) { return Hint(Command("status", source.text)) }
            // RFC 8693 §2.2.2: `invalid_request` is what a server says of the tokens themselves, whichever it means.
            if ["invalid_request", "invalid_grant"].contains(oauthError?.lowercased()) {
                return Hint(Command(words: ["refresh"] + exchange.sources.map(\.account.text)))
            }
        }
        switch finding {
        case .noDeviceEndpoint:
            return "\(Command("login", account.text, "--flow", "browser")), or name the endpoint: "
                + Hint(account.edit("--provider-setting", "device_authorization_endpoint=URL"))
        case .badIDToken:
            return "report it to the server's operator; or go without ID tokens: "
                + Hint(account.edit("--provider-setting", "id_token=ignored"))
        case .clientForgotten: return "\(Command("login", account.text)), which registers a new client"
        case .clientAssertion: return account.assertionHint
        case .registrationPage, nil: break
        }
        if let hint = remedyOfCodes(for: account, then: Command("refresh", account.text)) { return hint }
        switch oauthError?.lowercased() {
        // RFC 6749 §5.2; GitHub's and Slack's words for it. A server does not tell whether the id or the secret is
        // wrong.
        case "invalid_client", "unauthorized_client", "incorrect_client_credentials", "bad_client_secret",
            "invalid_client_id", "invalid_client_secret":
            return "\(account.edit("--client-secret-file", "FILE")), or --client-id ID"
        case "deleted_client", "disabled_client":
            return "enable the client in the server's console, or use another one: "
                + Hint(account.edit("--client-id", "ID", "--client-secret-file", "FILE"))
        case "invalid_scope": return Hint(account.edit("--scope", "SCOPE"))
        // RFC 8707 §2: the resource that the token is asked for is a parameter of the request.
        case "invalid_target", "invalid_resource": return Hint(account.edit("--param", "resource=URL"))
        case .some: return "see '\(Command("account", "edit", "--help"))' for what can be changed"
        case nil: break
        }
        // The server refuses, and does not say whether it means the client or the grant.
        if let httpStatus, [400, 401, 403].contains(httpStatus) {
            let client = account.edit("--client-id", "ID", "--client-secret-file", "FILE")
            guard grant == nil else { return Hint(client) }
            return "\(Command("login", account.text)), or, if the client is wrong: \(client)"
        }
        // Only an access token that is bound to no key is an answer that misconfigures.
        if let httpStatus, (200...299).contains(httpStatus) {
            return "\(account.edit("--accept-bearer")), if tokens without a key will do; "
                + "else ask the server's administrator"
        }
        // An answer, but not one of a token endpoint: this is not the server, or not its address.
        guard httpStatus == nil else { return Hint(account.edit("--issuer", "URL")) }
        return "\(account.edit("--issuer", "URL")), if the address is wrong; else correct this machine's clock, "
            + "ca_file or proxy"
    }
}

extension FailureDetail {
    /// What helps by the table's row for the server's codes; nil if no row says that.
    ///
    /// - Parameters:
    ///   - next: the command to type when an administrator has helped, or at another place.
    ///   - isRefresh: whether it was the answer to a refresh.
    func remedyOfCodes(for account: AccountName, then next: Command, isRefresh: Bool = true) -> Hint? {
        // An error that came through a browser has its code in the description.
        let code = providerCode ?? oauthErrorDescription.flatMap(ErrorReading.microsoftCode(beginning:))
        let remedy = FailureTable.standard.remedy(for: [code, subError, oauthError], isRefresh: isRefresh)
        return remedy.map { $0.hint(for: account, then: next) }
    }
}

extension Remedy {
    fileprivate func hint(for account: AccountName, then next: Command) -> Hint {
        return switch self {
        case .noCredential: Hint(account.edit("--client-auth", "none"))
        case .publicClientFlows:
            "switch on \"Allow public client flows\" in the app's Authentication page; or, if the app has a secret: "
                + Hint(account.edit("--client-secret-file", "FILE"))
        case .enabledApp: "ask an administrator of the organization to enable the app; then \(next)"
        case .originHeader:
            "register the redirect URI for the platform \"Mobile and desktop applications\"; or "
                + Hint(account.edit("--provider-setting", "headers={Origin: http://localhost}"))
        case .noOriginHeader: Hint(account.edit("--provider-setting", "headers={}"))
        case .clientOrTenant: "\(account.edit("--client-id", "ID")), or \(account.edit("--tenant", "TENANT"))"
        case .tenant: Hint(account.edit("--tenant", "TENANT"))
        case .permissions:
            "add the API's permissions to the app's registration; or \(account.edit("--scope", "SCOPE"))"
        case .credential: "\(account.edit("--client-secret-file", "FILE")), or --client-id ID"
        case .administratorsConsent: "ask an administrator of the organization to approve the app; then \(next)"
        case .unlocking: "wait, or ask an administrator of the organization; then \(next)"
        case .enabledUser: "ask an administrator of the organization to enable the user; then \(next)"
        case .assignment: "ask an administrator of the organization to assign the user to the app; then \(next)"
        case .riskReview:
            "try another network, or ask an administrator of the organization about the risk; then \(next)"
        case .acceptedDevice:
            "use a device that the organization manages, or ask its administrator; then \(next)"
        case .policyReview:
            "try another network, or ask an administrator of the organization about the policy; then \(next)"
        case .browserFlow: Hint(Command("login", account.text, "--flow", "browser"))
        }
    }
}

extension ExchangeTerms {
    /// The account that a failure is the fault of; nil if it is not that of an account that the token is derived from.
    func source(atFaultIn detail: FailureDetail) -> AccountName? {
        sources.map(\.account).first { $0 == detail.source }
    }
}

extension RevocationError {
    /// What people are told of it.
    var detail: FailureDetail {
        switch self {
        case .unsupported: FailureDetail(summary: "the server does not revoke tokens")
        case .stillValid: FailureDetail(summary: "the server cannot revoke tokens now", httpStatus: 503)
        case .accessTokenNotRevoked(let failure), .failed(let failure): failure.detail
        }
    }
}
