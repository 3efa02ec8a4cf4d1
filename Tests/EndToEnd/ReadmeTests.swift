import AuthRefreshInterface
import Crypto
import DemoIssuer
import Foundation
import TestSupport
import Testing

/// The README and the pages for users agree with the programs.
struct ReadmeTests {
    private static let pages = ["Commands", "Recipes", "Operations", "Accounts-and-signing-in"]

    /// The text of the README and the pages, one after the other.
    private let text: String

    init() throws {
        let readme = try SourceTree.text("README.md")
        text = try ([readme] + Self.pages.map(Self.page)).joined(separator: "\n")
    }

    private static func page(_ name: String) throws -> String {
        try SourceTree.text("Sources/authrefreshd/Documentation.docc/\(name).md")
    }

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/python3"), "python3 is not installed"))
    func `the README's picture shows what authctl prints`() async throws {
        let script = SourceTree.root.appending(path: "Tests/Tools/picture").path
        let environment = ProcessInfo.processInfo.environment
        let check = try Program("/usr/bin/python3", [script, "--check", Program.products], environment: environment)
        let end = try await check.ended()
        #expect(end == .exited(0), "\(check.errorText)")
    }

    @Test func `the page of commands lists the commands of authctl`() async throws {
        let help = try await DaemonStage().authctl("--help")
        let offered = help.output.split(separator: "\n").drop { !$0.hasSuffix("SUBCOMMANDS:") }
            .filter { !$0.hasPrefix("  See ") }
            // Descriptions begin further to the right.
            .filter { $0.hasPrefix("  ") && !$0.hasPrefix("   ") }
            .compactMap { $0.split(separator: " ").first.map(String.init) }
        let listed = text.lines(after: "## Commands").prefix { !$0.hasPrefix("## ") }
            .filter { $0.hasPrefix("    authctl ") }
            .compactMap { $0.split(separator: " ").dropFirst().first.map(String.init) }
        #expect(Set(listed) == Set(offered).subtracting(["help"]))
        #expect(!listed.isEmpty)
    }

    @Test func `the commands of the README and the pages work as a newcomer types them`() async throws {
        let commands = commands
        // A README in a form that this test does not understand must not pass.
        #expect(commands.count >= 8)
        let key = P256.Signing.PrivateKey()
        let robot = DemoClient(
            id: "robot@example.org",
            serviceScope: "https://mail.google.com/",
            assertionKey: key.publicKey.pemRepresentation
        )
        let keyFile = [
            "type": "service_account", "private_key": key.pemRepresentation, "client_email": "robot@example.org",
        ]
        var policy = GrantPolicy()
        policy.refreshesIDTokens = true
        try await withIssuer(clients: [DemoClient(id: "mail"), Self.confidential, robot], policy: policy) {
            issuer,
            url in
            let stage = try DaemonStage()
            let profile = "name: google\nissuer: \(url)\nnarrowed_scopes: kept\n"
            try stage.folder.write(profile, to: "config/authrefreshd/providers.d/google.yaml")
            try stage.folder.write("s3cret\n", to: "secret.txt")
            let json = String(decoding: try JSONEncoder().encode(keyFile), as: UTF8.self)
            try stage.folder.write(json, to: "key.json")
            let daemon = try await stage.start()
            // `authctl login` has added it, on the pages.
            let notes = try await issuer.issueGrant(clientID: "mail")
            try stage.folder.write(notes.refreshToken, to: "notes.txt")
            let file = "--refresh-token-file=\(stage.folder.path)/notes.txt"
            _ = try await stage.authctl("account", "add", "notes", "--issuer", url, "--client-id", "mail", file)
            for command in commands {
                // A token file can be imported once, and an account can be added only under a free name.
                let clientID = command.contains("ID") ? "ID" : "mail"
                if command.starts(with: ["account", "add"]) {
                    _ = try await stage.authctl("account", "remove", command[2], "--yes")
                }
                let grant = try await issuer.issueGrant(
                    clientID: command.starts(with: ["account", "import"]) ? "ID" : clientID,
                    scope: "openid mail.read mail.send"
                )
                try stage.folder.write(grant.refreshToken + "\n", to: "token.txt")
                let words = command.map { word in
                    if word.hasSuffix(".txt") || word.hasSuffix(".json") { return stage.folder.path + "/" + word }
                    return word == "https://sso.example.org" ? url : word
                }
                let outcome = try await stage.authctl(words)
                #expect(outcome.end == .exited(0), "authctl \(words.joined(separator: " ")): \(outcome.errors)")
            }
            try await daemon.terminate()
        }
    }

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/python3"), "python3 is not installed"))
    func `a call without varlinkctl gets a token`() async throws {
        let lines = try Self.page("Protocol").lines(after: "    python3 -c '").prefix { !$0.isEmpty }.map {
            $0.dropFirst(4).description
        }
        let program = (["python3 -c '"] + lines).joined(separator: "\n")
        try #require(program.hasSuffix("\n'") && program.contains("AcquireToken"))
        try await withIssuer { issuer, url in
            let stage = try DaemonStage()
            let daemon = try await stage.start()
            try await stage.add("work", issuer: url, grant: issuer.issueGrant(clientID: "app"))
            let token = try await stage.acquire("work").accessToken
            let outcome = try await shell(program, on: stage)
            #expect(outcome.output == token, "\(outcome)")
            try await daemon.terminate()
        }
    }

    @Test func `the recipe's script ends if there is no token`() async throws {
        let recipe = text.lines(after: "It ends if there is no token:").first ?? ""
        try #require(recipe.contains("eval"))
        // No daemon runs.
        let outcome = try await shell("\(recipe)\necho went on", on: DaemonStage())
        #expect(outcome.output == "")
        #expect(outcome.end == .exited(69))
    }

    /// Runs a script in the stage's folder, with `authctl` in its path.
    private func shell(_ script: String, on stage: DaemonStage) async throws -> CommandOutcome {
        let environment = stage.environment.merging(
            ["PATH": "\(Program.products):/usr/bin:/bin", "GIT_TERMINAL_PROMPT": "0"]
        ) { $1 }
        let program = try Program("/bin/sh", ["-c", "cd; \(script)"], environment: environment)
        let end = try await program.ended()
        return CommandOutcome(output: program.outputText, errors: program.errorText, end: end)
    }

    private static let confidential = DemoClient(
        id: "ID",
        authentication: .basic(secret: "s3cret", form: .formEncoded),
        serviceScope: "deploy"
    )

    /// These wait for a person, a signal, or their input.
    private static let waiting: Set<String?> = [
        "agent", "bazel-credential", "callback", "challenge", "forward", "help", "login", "watch",
    ]

    /// The arguments of each `authctl` in the README and the pages, in order, except in patterns such as `[ACCOUNT…]`.
    private var commands: [[String]] {
        text.matches(of: /authctl ([a-z].*?)(?:  |[#"`)\n])/).map { match in
            let words = match.1.split(separator: " ").map(String.init)
            // No person is there to sign in, so the grant is imported as from another tool.
            return words == ["login", "work"]
                ? ["account", "import", "work", "--refresh-token-file", "token.txt"] : words
        }
        .filter { words in
            words.allSatisfy { $0.allSatisfy { $0.isASCII } }
                && !words.contains { $0.contains(/[\[|]|^[A-Z]{3,}$|^\$\{/) }
                && !Self.waiting.contains(words.first)
        }
    }
}

extension String {
    /// The lines after the first one equal to `line`, without blank lines right after it.
    fileprivate func lines(after line: String) -> [String] {
        let lines = split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        guard let start = lines.firstIndex(of: line) else { return [] }
        return Array(lines[(start + 1)...].drop { $0.isEmpty })
    }
}
