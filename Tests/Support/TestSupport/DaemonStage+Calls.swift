package import AuthRefreshInterface
package import DemoIssuer
import Foundation

/// The calls that most tests make.
extension DaemonStage {
    /// Adds an account of the public client `app`.
    @discardableResult package func add(
        _ name: String,
        issuer: String,
        grant: IssuedGrant? = nil,
        refreshToken: String? = nil,
        rotationGraceSec: Int64? = nil,
        providerSettings: [String: String]? = nil
    ) async throws -> AccountStatus {
        let settings = AccountSettings(name: name, issuer: issuer, clientId: "app") {
            $0.rotationGraceSec = rotationGraceSec
            $0.providerSettings = providerSettings
        }
        let parameters = AddAccount.Parameters(settings: settings, refreshToken: grant?.refreshToken ?? refreshToken)
        return try await ask(.addAccount, parameters, for: AddAccount.Reply.self).status
    }

    @discardableResult package func acquire(
        _ account: String,
        minimumValiditySec: Int64? = nil,
        force: Bool? = nil
    ) async throws -> AcquireToken.Reply {
        let parameters = AcquireToken.Parameters(
            account: account,
            minimumValiditySec: minimumValiditySec,
            force: force
        )
        return try await ask(.acquireToken, parameters, for: AcquireToken.Reply.self)
    }

    package func status(_ account: String) async throws -> AccountStatus {
        let reply = try await ask(.getStatus, GetStatus.Parameters(accounts: [account]), for: GetStatus.Reply.self)
        guard let status = reply.accounts.first else { throw TestFault.unreadable("no status of \(account)") }
        return status
    }

    /// All accounts, page by page.
    package func statuses() async throws -> [AccountStatus] {
        var all: [AccountStatus] = []
        var next: String?
        repeat {
            let reply = try await ask(.getStatus, GetStatus.Parameters(after: next), for: GetStatus.Reply.self)
            all += reply.accounts
            next = reply.next
        } while next != nil
        return all
    }

    package func info() async throws -> GetInfo.Reply {
        try await ask(.getInfo, GetInfo.Parameters(), for: GetInfo.Reply.self)
    }

    @discardableResult package func importGrant(_ grant: IssuedGrant, into account: String) async throws
        -> AccountStatus
    {
        let parameters = ImportGrant.Parameters(account: account, refreshToken: grant.refreshToken)
        return try await ask(.importGrant, parameters, for: ImportGrant.Reply.self).status
    }

    /// The error with which `AcquireToken` ends.
    ///
    /// - Throws: `unreadable` if the call returns a token, or ends with another error.
    package func refusal<Refusal: InterfaceError>(
        of account: String,
        as _: Refusal.Type,
        force: Bool = false
    ) async throws -> Refusal {
        do {
            try await acquire(account, force: force)
        } catch TestFault.refused(let name, let parameters) {
            guard name == Refusal.name else { throw TestFault.unreadable("\(name) \(parameters)") }
            return try JSONDecoder().decode(Refusal.self, from: Data(parameters.utf8))
        }
        throw TestFault.unreadable("a token for \(account)")
    }
}
