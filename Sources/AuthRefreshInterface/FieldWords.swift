extension Setting {
    /// The field in `InvalidSettings`, or one that a question is about, as the subject of a sentence.
    package static func phrase(forField field: String) -> String {
        if let setting = named(field) { return setting.phrase }
        return switch field {
        case "clientSecret", "keepSecret": "the client secret"
        case "clientSecretExpiresAtUSec": "the end of the client secret"
        case "clientKey": "the client's key"
        case "register": "a new client"
        case "registration": "the client's registration"
        case "resources": "a resource"
        case "claims": "the claims"
        case "idToken": "an ID token"
        case "redirect": "the redirected address"
        case "callback": "the callback"
        case "policy": "the policy"
        case "audience": "the audience"
        case "challenge": "the challenge"
        case "refreshToken": "the refresh token"
        case "url": "the URL"
        case "withoutCaller": "this list of allowed callers"
        case "name", "newName", "newAccount": "the account's name"
        default: "the setting '\(field)'"
        }
    }
}

extension Limit {
    /// What the limit counts, after a number.
    package var words: String {
        switch self {
        case .accounts: "accounts"
        case .allowedCallers: "units and executables on an account's lists"
        case .confirmations: "open questions"
        case .connections: "connections"
        case .derivedAccounts: "accounts that are derived from one account"
        case .diagnoses: "running checks of servers"
        case .serverCalls: "running registrations, sign-outs and imports"
        case .heldCalls: "calls that stay open"
        case .messageBytes: "bytes in one call"
        case .pacedCalls: "waiting calls"
        case .page: "accounts in one call"
        case .secretBytes: "bytes in a token or client secret"
        case .settingsBytes: "bytes of settings in one account"
        case .signIns: "running sign-ins"
        case .subscribedAccounts: "accounts that one program follows by name"
        case .tokenFiles: "accounts with a token file"
        case .tokenSetBytes: "bytes of scopes, resources, audience and claims in one token set"
        case .tokenSets: "token sets of one account"
        case .unreadBytes: "bytes of unread replies"
        case .unfinishedBytes: "bytes of unfinished calls"
        case .urls: "addresses of one account"
        case .webSessions: "web sessions"
        }
    }
}
