internal import AuthRefreshInterface
internal import DemoIssuer
internal import Foundation
internal import TestSupport

/// A change of the store's key that is killed at each system call with which it writes.
struct RekeyKills {
    /// Some pages of sealed values.
    private static let accounts = 40

    private let stage: DaemonStage
    private let files: FaultyFiles
    private let token: AcquireToken.Reply

    init(issuer: DemoIssuer, url: String) async throws {
        stage = try DaemonStage()
        files = FaultyFiles(in: stage.folder)
        let daemon = try await stage.start()
        try await stage.add("work", issuer: url, grant: issuer.issueGrant(clientID: "app"))
        token = try await stage.acquire("work")
        for number in 0..<Self.accounts {
            let settings = AccountSettings(name: "a\(number)", issuer: "https://login.example.com", clientId: "app")
            let parameters = AddAccount.Parameters(settings: settings, clientSecret: "secret-\(number)")
            _ = try await stage.ask(.addAccount, parameters, for: AddAccount.Reply.self)
        }
        try await daemon.terminate()
    }

    /// The system calls that write to the state folder during an undisturbed key change and the daemon's end, in all
    /// threads.
    func calls() async throws -> [Substring] {
        let (end, isDone, calls) = try await rekey(killedAt: .max)
        guard end == .exited(0), isDone else { throw TestFault.unreadable("a change of the key has failed: \(end)") }
        return calls
    }

    /// Kills the daemon before the call with this number, and starts the next daemon, which must also be able to change
    /// the key.
    ///
    /// - Returns: what went wrong, and whether the kill came before the end.
    func kill(at number: Int) async throws -> (surprises: [String], wasKilled: Bool) {
        let (end, isDone, _) = try await rekey(killedAt: number)
        var surprises = end == .signalled(9) || (end == .exited(0) && isDone) ? [] : ["the daemon's end: \(end)"]
        do {
            let next = try await stage.start()
            surprises += try await losses()
            try await stage.changeKey()
            if try await stage.acquire("work") != token { surprises.append("the next change has lost the token") }
            try await next.terminate()
        } catch {
            surprises.append("the store does not open: \(error)")
        }
        return (surprises, end == .signalled(9))
    }

    /// Changes the key, and ends the daemon.
    private func rekey(
        killedAt number: Int
    ) async throws -> (end: ProgramEnd, isDone: Bool, calls: [Substring]) {
        let daemon = try await stage.start(environment: files.environment(for: stage.stateDirectory))
        try files.give(.kill(at: number))
        let isDone = (try? await stage.changeKey()) != nil
        daemon.signal(SIGTERM)
        let end = try await daemon.ended()
        return (end, isDone, try files.withdraw())
    }

    private func losses() async throws -> [String] {
        var losses: [String] = []
        if try await stage.acquire("work") != token { losses.append("the token is another") }
        for number in 0..<Self.accounts {
            let parameters = ExportGrant.Parameters(account: "a\(number)")
            let grant = try await stage.ask(.exportGrant, parameters, for: ExportGrant.Reply.self)
            if grant.clientSecret != "secret-\(number)" { losses.append("the secret of a\(number) is gone") }
        }
        return losses
    }
}

extension DaemonStage {
    fileprivate func changeKey() async throws {
        _ = try await ask(.rekeyStore, RekeyStore.Parameters(), for: RekeyStore.Reply.self)
    }
}
