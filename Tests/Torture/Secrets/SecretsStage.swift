internal import AuthRefreshInterface
internal import DemoIssuer
internal import Foundation
internal import TestSupport

/// A daemon that logs everything, an authorization server whose requests are recorded, and all output in that time.
final class SecretsStage {
    private static let clientSecrets = ["basic": "demo-cs-81c5e0a4d21f", "post": "demo-cs-f6b07d93c418"]
    /// The number of accounts with a public client, in addition to one for each other kind of client.
    private static let publicAccounts = 6

    let stage: DaemonStage
    let issuer: DemoIssuer
    let wiretap: Wiretap
    let url: String
    /// The folder with the inputs of the tests, the only files with secrets in plain form.
    let inputs: String
    private(set) var daemon: DaemonProcess
    /// Everything that the daemons have logged and `authctl` has printed, except tokens and grants that it was asked
    /// for.
    private(set) var said = ""
    /// The store's keys, as they stood in its key file.
    private(set) var keys: Set<String> = []
    private(set) var clientKey: String
    /// The accounts whose grants rotate.
    private(set) var personal: [String] = []
    private(set) var service: [String] = []

    init() async throws {
        stage = try DaemonStage()
        inputs = stage.folder.path + "/inputs"
        try FileManager.default.createDirectory(atPath: inputs, withIntermediateDirectories: false)
        try FileManager.default.createDirectory(
            atPath: stage.folder.path + "/tmp",
            withIntermediateDirectories: false
        )
        try stage.configure("log_level: debug\n")
        let keyFile = inputs + "/client-key.pem"
        let shell = "openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out '\(keyFile)'"
        let publicKey = try await Self.output("\(shell) && openssl pkey -pubout -in '\(keyFile)'")
        clientKey = try String(contentsOfFile: keyFile, encoding: .utf8)
        let (basic, post) = (Self.clientSecrets["basic"] ?? "", Self.clientSecrets["post"] ?? "")
        wiretap = Wiretap()
        var configuration = IssuerConfiguration(
            clients: [
                DemoClient(id: "app"),
                DemoClient(id: "basic", authentication: .basic(secret: basic, form: .formEncoded)),
                DemoClient(id: "post", authentication: .post(secret: post)),
                DemoClient(id: "robot", serviceScope: "deploy", assertionKey: publicKey),
            ],
            policy: GrantPolicy(gracePeriod: .seconds(3600))
        )
        configuration.prepareConnection = wiretap.attach
        issuer = DemoIssuer(configuration: configuration)
        url = try await issuer.start()
        daemon = try await stage.start(environment: ["TMPDIR": stage.folder.path + "/tmp"])
        try noteKey()
        try await addAccounts()
    }

    /// A search for everything that must not be found anywhere.
    func search() -> SecretSearch {
        var search = SecretSearch()
        for secret in wiretap.secrets.union(Self.clientSecrets.values).union(keys) { search.add(secret.utf8) }
        // If a PEM was split up, its lines may be left.
        for line in clientKey.split(separator: "\n") where !line.hasPrefix("-----") { search.add(line.utf8) }
        return search
    }

    /// Starts the next daemon on the same store.
    func restart() async throws {
        try await end()
        daemon = try await stage.start(environment: ["TMPDIR": stage.folder.path + "/tmp"])
    }

    func end() async throws {
        try await daemon.terminate()
        said += daemon.logText
    }

    func shutdown() async {
        await issuer.shutdown()
    }

    /// Runs `authctl`, and keeps its output.
    @discardableResult func authctl(_ arguments: String..., input: String = "") async throws -> CommandOutcome {
        let outcome = try await stage.authctl(arguments, input: input)
        said += outcome.output + "\n" + outcome.errors + "\n"
        return outcome
    }

    /// All output, including the log of the running daemon.
    var allSaid: String {
        said + daemon.logText + stage.notify.messages.all.joined(separator: "\n")
    }

    /// Adds text to the output to search.
    func note(_ text: String) {
        said += text + "\n"
    }

    /// Records the store's key from its file.
    func noteKey() throws {
        keys.insert(try String(contentsOfFile: stage.key, encoding: .utf8).trimmingCharacters(in: .newlines))
    }

    private func addAccounts() async throws {
        for client in ["basic", "post"] {
            let file = inputs + "/\(client)-secret"
            try Data((Self.clientSecrets[client] ?? "").utf8).write(to: URL(fileURLWithPath: file))
            let grant = try await issuer.issueGrant(clientID: client)
            try await authctl(
                "account",
                "add",
                client,
                "--issuer",
                url,
                "--client-id",
                client,
                "--client-secret-file",
                file,
                "--client-auth",
                "client_secret_\(client)",
                "--refresh-token-file",
                "-",
                input: grant.refreshToken
            )
            personal.append(client)
        }
        for number in 0..<Self.publicAccounts {
            let grant = try await issuer.issueGrant(clientID: "app", scope: "mail files offline_access")
            var settings = AccountSettings(name: "public\(number)", issuer: url, clientId: "app")
            settings.dpop = number == 0
            let parameters = AddAccount.Parameters(settings: settings, refreshToken: grant.refreshToken)
            _ = try await stage.ask(.addAccount, parameters, for: AddAccount.Reply.self)
            personal.append(settings.name)
        }
        try await authctl(
            "account",
            "add",
            "robot",
            "--issuer",
            url,
            "--client-id",
            "robot",
            "--grant",
            "client-credentials",
            "--client-key-file",
            inputs + "/client-key.pem",
            "--scope",
            "deploy"
        )
        service.append("robot")
    }

    /// The output of a shell command.
    static func output(_ command: String) async throws -> String {
        let program = try Program("/bin/sh", ["-c", command], environment: ["PATH": "/usr/bin:/bin"])
        guard try await program.ended() == .exited(0) else {
            throw TestFault.failed(program: command, errors: program.errorText)
        }
        return program.outputText + "\n"
    }
}
