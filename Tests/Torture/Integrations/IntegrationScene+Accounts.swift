internal import AuthRefreshInterface
internal import DemoIssuer
internal import Synchronization
internal import TestSupport

/// The accounts, one for each integration.
extension IntegrationScene {
    /// Signs an account in for an integration.
    func add(_ row: Integration) async throws {
        let grant = try await issuer.issueGrant(clientID: "app", scope: "openid demo")
        let url = state.withLock { state in
            state.families[row.account] = grant.family
            return state.url
        }
        let settings = AccountSettings(name: row.account, issuer: url, clientId: "app") {
            $0.scopes = ["openid", "demo"]
            $0.urls = ["https://\(row.account).example.org/"]
            row.settings(&$0)
        }
        let parameters = AddAccount.Parameters(settings: settings, refreshToken: grant.refreshToken)
        _ = try await stage.ask(.addAccount, parameters, for: AddAccount.Reply.self)
        try await noteTokens(of: row.account)
    }

    /// Makes the daemon ask the user before a program gets a token of the account.
    func askFirst(_ account: String) async throws {
        let edit = try await stage.authctl("account", "edit", account, "--confirm")
        guard edit.end == .exited(0) else {
            throw TestFault.failed(program: "authctl account edit", errors: edit.errors)
        }
    }

    /// Looks up the tokens that the account has now.
    func noteTokens(of account: String) async throws {
        let access = try await stage.acquire(account)
        let parameters = AcquireToken.Parameters(account: account, idToken: true)
        let reply = try await stage.ask(.acquireToken, parameters, for: AcquireToken.Reply.self)
        guard let idToken = reply.idToken else { throw TestFault.unreadable("no ID token of \(account)") }
        let signOutAtUSec = try await stage.status(account).signOutAtUSec
        let tokens = IntegrationTokens(access: access, idToken: idToken, signOutAtUSec: signOutAtUSec)
        state.withLock { $0.tokens[account] = tokens }
    }

    /// What `noteTokens` found last.
    func tokens(of account: String) throws -> IntegrationTokens {
        guard let tokens = state.withLock({ $0.tokens[account] }) else {
            throw TestFault.unreadable("no tokens of \(account)")
        }
        return tokens
    }

    func signOut(_ account: String) async throws {
        _ = try await stage.ask(.signOut, SignOut.Parameters(account: account), for: SignOut.Reply.self)
    }

    /// Signs the account in again.
    func giveGrant(to account: String) async throws {
        let grant = try await issuer.issueGrant(clientID: "app", scope: "openid demo")
        state.withLock { $0.families[account] = grant.family }
        try await stage.importGrant(grant, into: account)
    }

    /// Asks for a new token, and shows it to nobody.
    func refresh(_ account: String) async throws {
        _ = try await stage.ask(.refresh, Refresh.Parameters(account: account), for: Refresh.Reply.self)
    }
}
