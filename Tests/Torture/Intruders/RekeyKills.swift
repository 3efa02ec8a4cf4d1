internal import AuthRefreshInterface
internal import DemoIssuer
internal import Foundation
internal import TestSupport

/// A change of the store's key, killed on entering each of the system calls by which it writes.
struct RekeyKills {
    /// All that changes a file, or makes a change last. A pipe that is written to counts, too, and costs no more than a moment.
    private static let calls =
        "write,pwrite64,writev,fsync,fdatasync,ftruncate,rename,renameat,renameat2,unlink,unlinkat,link,linkat,openat"
    /// Some pages of sealed values.
    private static let accounts = 40

    let stage: DaemonStage
    let token: AcquireToken.Reply

    init(issuer: DemoIssuer, url: String) async throws {
        stage = try DaemonStage()
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

    /// How many such calls the thread that makes the most of them makes.
    func count() async throws -> Int {
        let file = stage.folder.path + "/calls"
        let (_, isDone) = try await rekey(["-o", file])
        guard isDone else { throw TestFault.unreadable("a change of the key that nobody disturbed has failed") }
        let lines = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n")
        let threads = Dictionary(grouping: lines.filter { $0.contains("(") }) { $0.prefix { $0 != " " } }
        return threads.values.map(\.count).max() ?? 0
    }

    /// Kills the daemon at the call of this number, and starts the next.
    ///
    /// - Returns: what was not as it must be, and whether the kill came before the end.
    func kill(at number: Int) async throws -> (surprises: [String], wasKilled: Bool) {
        let (end, isDone) = try await rekey([
            "-o", "/dev/null", "-e", "inject=\(Self.calls):signal=KILL:when=\(number)",
        ])
        var surprises = end == .signalled(9) || isDone ? [] : ["the daemon's end: \(end)"]
        do {
            let next = try await stage.start()
            surprises += try await losses()
            try await next.terminate()
        } catch {
            surprises.append("the store does not open: \(error)")
        }
        return (surprises, !isDone)
    }

    /// Changes the key under strace.
    private func rekey(_ options: [String]) async throws -> (end: ProgramEnd, isDone: Bool) {
        let daemon = try await stage.start()
        let words = ["-f", "-e", "trace=\(Self.calls)"] + options + ["-p", "\(daemon.pid)"]
        let strace = try Program("/usr/bin/strace", words, environment: ["PATH": "/usr/bin:/bin"])
        try await strace.errors.first("strace") { $0.contains("attached") }
        let reply = try? await stage.ask(.rekeyStore, RekeyStore.Parameters(), for: RekeyStore.Reply.self)
        // It may have answered, and be killed by what follows.
        daemon.signal(SIGTERM)
        let end = try await daemon.ended(within: .seconds(60))
        try await strace.ended(within: .seconds(60))
        return (end, reply != nil && end == .exited(0))
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
