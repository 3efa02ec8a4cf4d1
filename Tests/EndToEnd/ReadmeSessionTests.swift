import DemoIssuer
import Foundation
import TestSupport
import Testing

/// The sign-ins on their page, typed on a terminal, at a server that answers as the provider does. The page shows what
/// the programs print.
struct ReadmeSessionTests {

    @Test func `the first Google account signs in as the page shows`() async throws {
        let client = DemoClient(id: "CLIENT", authentication: .basic(secret: "s3cret", form: .formEncoded))
        let policy = GrantPolicy(accessTokenLifetime: .seconds(3599))
        try await play("google", after: "This adds the first Google account,", by: client, policy) { url, _ in
            #expect(url.contains("access_type=offline") && url.contains("prompt=consent"))
            #expect(url.contains("redirect_uri=http%3A%2F%2F127.0.0.1%3A"))
            _ = try await RawWeb.get(try await Person().decide(at: url))
            return nil
        }
    }

    @Test func `the first Microsoft account signs in as the page shows`() async throws {
        let policy = GrantPolicy(accessTokenLifetime: .seconds(4500))
        let client = DemoClient(id: "CLIENT")
        try await play("microsoft", after: "This adds the first Microsoft account,", by: client, policy) {
            url,
            opened in
            #expect(url.contains("redirect_uri=http%3A%2F%2Flocalhost%3A"))
            #expect(url.contains("login_hint=you%40example.org"))
            _ = try await RawWeb.get(try await Person().decide(at: url))
            // The address contains the sign-in's state, which other users must not read among a browser's arguments.
            let words = try await opened()
            #expect(words.count == 2 && words[0] == "--private-window")
            #expect(words[1].contains(/^http:\/\/127\.0\.0\.1:[0-9]+\/[0-9a-f-]+$/), "\(words)")
            return nil
        }
    }

    @Test func `the first Apple account signs in as the page shows`() async throws {
        let page = "https://me.example.org/back/"
        let client = DemoClient(id: "org.example.me", authentication: .signedPost, redirectURIs: [page])
        var policy = GrantPolicy()
        policy.issuesIDTokensUnasked = true
        try await play("apple", after: "Apple accepts neither", by: client, policy) { url, _ in
            #expect(url.contains("response_mode=form_post"))
            let (action, form) = try await Person().decideByForm(at: url)
            #expect(action == page)
            // What the user's own page shows.
            return "\(page)?\(form)"
        }
    }

    // MARK: the session

    /// Runs the session on the page after the line that begins with `heading`.
    ///
    /// - Parameter person: acts as the person at the address. Its argument returns the words with which the browser was
    ///   started. The text that it returns is pasted.
    private func play(
        _ provider: String,
        after heading: String,
        by client: DemoClient,
        _ policy: GrantPolicy,
        _ person: (_ url: String, _ opened: () async throws -> [String]) async throws -> String?
    ) async throws {
        let session = try session(after: heading)
        let commands = session.filter { $0.hasPrefix("$ ") }.map { $0.dropFirst(2) }
        #expect(commands.count == 2)
        try await withIssuer(clients: [client], policy: policy) { _, url in
            let stage = try DaemonStage()
            try dress(stage, provider, url, commands)
            let daemon = try await stage.start()
            let browser = try Program("/bin/cat", [stage.folder.path + "/opened"], environment: [:])
            defer { if browser.isRunning { browser.signal(SIGKILL) } }
            let terminal = try Program("/bin/bash", ["-c", Self.terminal], environment: environment(stage))
            let address = try await terminal.output.first("the address") { $0.hasPrefix("  http") }
                .trimmingCharacters(in: .whitespaces.union(.newlines))
            let pasted = try await person(address) {
                try await browser.ended()
                return browser.output.all
            }
            if let pasted {
                let keys = try FileHandle(forWritingTo: URL(fileURLWithPath: stage.folder.path + "/keys"))
                try keys.write(contentsOf: Data((pasted + "\n").utf8))
                try keys.close()
            }
            #expect(try await terminal.ended() == .exited(0))
            let shown = terminal.output.all.map { $0.filter { $0 != "\r" } }
            let host = url.replacing("http://", with: "")
            #expect(Self.comparable(shown, host) == Self.comparable(session, Self.name(of: provider)))
            #expect(try await daemon.terminate() == .exited(0))
        }
    }

    /// Prepares what the person has: the profile at this server, a client secret, a key, and a Firefox.
    private func dress(_ stage: DaemonStage, _ provider: String, _ url: String, _ commands: [Substring]) throws {
        let file = SourceTree.root.appending(path: "etc/providers.d/\(provider).yaml")
        let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
        // The endpoints in the profile belong to another provider here, so they are looked up.
        let moved = lines.filter { !$0.contains(/^(issuer_.*|.*_endpoint|jwks_uri):/) }
            .map { $0.hasPrefix("issuer: ") ? "issuer: \(url)" : $0 }
        let profile = moved.joined(separator: "\n") + "\n"
        try stage.folder.write(profile, to: "config/authrefreshd/providers.d/\(provider).yaml")
        try stage.folder.write("s3cret\n", to: "secret.txt")
        try stage.folder.write(Self.key, to: "AuthKey_KEYID.p8")
        #expect(unsafe mkfifo(stage.folder.path + "/opened", 0o600) == 0)
        let firefox = "#!/bin/sh\nprintf '%s\\n' \"$@\" > ~/opened\n"
        try stage.folder.write(firefox, to: "bin/firefox", mode: 0o700)
        let script = commands.map { "echo '$ \($0)'\n\($0)\n" }.joined()
        // Without `stty -echo`, the terminal would show keys that are typed before they are asked for.
        try stage.folder.write("set -e\nstty -echo\n" + script, to: "session")
    }

    private func environment(_ stage: DaemonStage) -> [String: String] {
        let path = "\(stage.folder.path)/bin:\(Program.products):/usr/bin:/bin"
        return stage.environment.merging(["PATH": path, "BROWSER": "firefox", "TERM": "dumb"]) { $1 }
    }

    /// A terminal from util-linux. Its keys come through a pipe that does not end.
    private static let terminal =
        "cd; mkfifo -m 600 keys; exec 0<>keys; exec script --quiet --return --flush --command 'sh session' /dev/null"

    /// A key that nobody uses.
    private static let key = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgR5SQl1FMIKUct1y6
        IhiW4jqwVt2DB9wJH8AhrP7rtAqhRANCAATtZxBqX28sjGSgOd/YCdf3L3cLKWo7
        ED193+9dGYArZ6SySct16WxARRFm4tTntd3pKLCMlUiioSpkZ4rh+SpV
        -----END PRIVATE KEY-----

        """

    // MARK: the README

    /// The lines of the session, as they stand on the terminal.
    private func session(after heading: String) throws -> [String] {
        let path = "Sources/authrefreshd/Documentation.docc/Accounts-and-signing-in.md"
        let page = try SourceTree.text(path)
        let lines = page.split(separator: "\n", omittingEmptySubsequences: false)
        let start = try #require(lines.firstIndex { $0.hasPrefix(heading) || $0.contains(". " + heading) })
        let session = lines[start...].drop { !$0.hasPrefix("    $ ") }.prefix { $0.isEmpty || $0.hasPrefix("    ") }
        return session.map { String($0.dropFirst(4)) }
    }

    private static func name(of provider: String) -> String {
        switch provider {
        case "google": "accounts.google.com"
        case "microsoft": "login.microsoftonline.com"
        default: "appleid.apple.com"
        }
    }

    /// The lines without what differs between servers and hours.
    private static func comparable(_ lines: [String], _ host: String) -> [String] {
        let told = lines.map { line in
            line.replacing(/^  http.*/, with: "  ADDRESS").replacing(host, with: "HOST")
                .replacing(/until (\d{4}-\d\d-\d\d )?\d\d:\d\d/, with: "until TIME").replacing(/\ +$/, with: "")
        }
        return Array(told.reversed().drop { $0.isEmpty }.reversed())
    }
}
