internal import RefreshCore

extension FailureDetail {
    /// What mends an account that is misconfigured: a command that changes what the server refuses, or where to look.
    ///
    /// Never the command that shows the account, whose own answer this is a part of.
    /// - Parameter grant: how a service account obtains its tokens; nil for the account of a person.
    func remedy(for account: AccountName, by grant: ServiceGrant? = nil) -> String {
        let edit = "authctl account edit \(account)"
        if oauthError?.lowercased() == "invalid_grant", grant?.assertion != nil {
            return
                "\(edit) --client-key-file FILE, --assertion-subject or --assertion-audience; or set this machine's clock"
        }
        if let exchange = grant?.exchange {
            if let source = exchange.source(atFaultIn: self) { return "authctl status \(source)" }
            // RFC 8693 §2.2.2: `invalid_request` is what a server says of the tokens themselves, whichever it means.
            if ["invalid_request", "invalid_grant"].contains(oauthError?.lowercased()) {
                return "authctl refresh " + exchange.sources.map(\.account.text).joined(separator: " ")
            }
        }
        switch oauthError?.lowercased() {
        // RFC 6749 §5.2; GitHub's and Slack's words for it. A server does not tell whether the id or the secret is wrong.
        case "invalid_client", "unauthorized_client", "incorrect_client_credentials", "bad_client_secret",
            "invalid_client_id":
            return "\(edit) --client-secret-file FILE, or --client-id ID"
        case "invalid_scope": return "\(edit) --scope SCOPE"
        // RFC 8707 §2: the resource that the token is asked for is a parameter of the request.
        case "invalid_target", "invalid_resource": return "\(edit) --param resource=URL"
        case .some: return "see 'authctl account edit --help' for what can be changed"
        case nil: break
        }
        // An answer, but not one of a token endpoint: this is not the server, or not its address.
        guard httpStatus == nil else { return "\(edit) --issuer URL" }
        return "\(edit) --issuer URL, if the address is wrong; else mend this machine's clock, ca_file or proxy"
    }
}

extension ExchangeTerms {
    /// The account that a failure is the fault of; nil if it is not that of an account that the token is derived from.
    func source(atFaultIn detail: FailureDetail) -> AccountName? {
        sources.map(\.account).first { $0 == detail.source }
    }
}
