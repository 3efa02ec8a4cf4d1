import AuthRefreshInterface
import DemoIssuer
import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing

/// `authctl import` against a real daemon and a real authorization server; the other programs are an `oidc-gen` that prints what oidc-agent
/// 4.2 prints, and a copy of mutt_oauth2.py with a command that opens its file. `Tests/Integration/moving-in` has the real ones. One at a
/// time, because the process table is the whole machine's.
@Suite(.serialized) struct MovingInTests {
    @Test func `an account is moved with its grant, refreshed once, and ready for programs`() async throws {
        try await withIssuer { issuer, url in
            let stage = try DaemonStage()
            let daemon = try await stage.start()
            let grant = try await issuer.issueGrant(clientID: "app")
            try OtherProgram.keep("work", issuer: url + "/", refreshToken: grant.refreshToken, in: stage)

            let table = try await OtherProgram.importing(stage, "--dry-run")
            #expect(table.output.contains("work  oidc-agent  encrypted  grant and settings"), "\(table)")
            #expect(await issuer.counters.refreshes == 0)

            let unasked = try await OtherProgram.importing(stage)
            #expect(unasked.output == table.output)
            #expect(unasked.errors.contains("nothing was taken over: name accounts, or use --all"))

            let moved = try await OtherProgram.importing(stage, "work")
            #expect(moved.end == .exited(0), "\(moved)")
            #expect(moved.output.hasPrefix("work: taken over from oidc-agent, and refreshed once\n"), "\(moved)")
            let file = stage.folder.path + "/.config/oidc-agent/work"
            #expect(moved.output.contains("rm '\(file)' ('oidc-gen --delete' would revoke the grant)"), "\(moved)")
            #expect(!(moved.output + moved.errors).contains(grant.refreshToken))
            #expect(await issuer.counters.refreshes == 1)

            #expect(try await stage.authctl("token", "work").end == .exited(0))
            let shown = try await stage.authctl("account", "show", "work", "--json")
            #expect(shown.output.contains("\"\(url)\"") && shown.output.contains("http://localhost:4242"), "\(shown)")
            #expect(await issuer.counters.spentTokenUses == 0)

            let again = try await OtherProgram.importing(stage, "work")
            #expect(again.end == .exited(64), "\(again)")
            #expect(again.errors.contains("authctl import --from oidc-agent work --as NEWNAME"), "\(again)")
            #expect(try await daemon.terminate() == .exited(0))
        }
    }

    @Test func `an account whose program still runs is refused without a request to the server`() async throws {
        try await withIssuer { issuer, url in
            let stage = try DaemonStage()
            let daemon = try await stage.start()
            let grant = try await issuer.issueGrant(clientID: "app")
            try OtherProgram.keep("work", issuer: url, refreshToken: grant.refreshToken, in: stage)
            let agent = stage.folder.path + "/oidc-agent"
            try FileManager.default.copyItem(atPath: "/bin/sleep", toPath: agent)
            let running = try Program(agent, ["600"], environment: [:])
            let refused = try await OtherProgram.importing(stage, "work")
            running.signal(SIGTERM)
            try await running.ended()
            #expect(refused.end == .exited(75), "\(refused)")
            #expect(refused.errors.contains("oidc-agent is running (oidc-agent, process \(running.pid))"), "\(refused)")
            #expect(refused.errors.contains("oidc-add --remove work"), "\(refused)")
            #expect(refused.errors.contains("without the variable OIDC_SOCK"), "\(refused)")
            #expect(try await stage.statuses().isEmpty)
            #expect(await issuer.counters.refreshes == 0)
            #expect(try await OtherProgram.importing(stage, "work").end == .exited(0))
            #expect(try await daemon.terminate() == .exited(0))
        }
    }

    @Test func `a refused grant leaves no account behind`() async throws {
        try await withIssuer { issuer, url in
            let stage = try DaemonStage()
            let daemon = try await stage.start()
            let grant = try await issuer.issueGrant(clientID: "app")
            try await issuer.revokeGrant(grant.family)
            try OtherProgram.keep("work", issuer: url, refreshToken: grant.refreshToken, in: stage)
            let refused = try await OtherProgram.importing(stage, "--all")
            #expect(refused.end == .exited(3), "\(refused)")
            #expect(refused.errors.contains("invalid_grant; the account was removed again"), "\(refused)")
            #expect(refused.output.isEmpty)
            #expect(try await stage.statuses().isEmpty)
            #expect(try await daemon.terminate() == .exited(0))
        }
    }

    @Test func `after a refusal that is not about the grant, the account keeps it`() async throws {
        try await withIssuer { issuer, url in
            let stage = try DaemonStage()
            let daemon = try await stage.start()
            let grant = try await issuer.issueGrant(clientID: "app")
            try OtherProgram.keep("work", issuer: url, refreshToken: grant.refreshToken, in: stage)
            try await issuer.script(.answer(.oauthError("invalid_client")), times: nil)
            let kept = try await OtherProgram.importing(stage, "work")
            #expect(kept.end == .exited(78), "\(kept)")
            #expect(kept.output.contains("but not refreshed yet"), "\(kept)")
            #expect(try await stage.statuses().map(\.account) == ["work"])
            #expect(try await daemon.terminate() == .exited(0))
        }
    }

    @Test func `if the server is down, the account stays and the daemon keeps trying`() async throws {
        let stage = try DaemonStage()
        let daemon = try await stage.start()
        try await withIssuer { issuer, url in
            let grant = try await issuer.issueGrant(clientID: "app")
            try OtherProgram.keep("work", issuer: url, refreshToken: grant.refreshToken, in: stage)
        }
        let kept = try await OtherProgram.importing(stage, "--json", "work", "--as", "moved")
        #expect(kept.end == .exited(75), "\(kept)")
        #expect(kept.output.contains(#""outcome" : "unproved""#), "\(kept)")
        #expect(try await stage.statuses().map(\.account) == ["moved"])
        #expect(try await daemon.terminate() == .exited(0))
    }

    @Test func `the password of oidc-gen comes from a file that it reads itself`() async throws {
        try await withIssuer { issuer, url in
            let stage = try DaemonStage()
            let daemon = try await stage.start()
            let grant = try await issuer.issueGrant(clientID: "app")
            try OtherProgram.keep("work", issuer: url, refreshToken: grant.refreshToken, in: stage)
            try stage.folder.write("correct horse", to: "password")
            try stage.folder.write("horse", to: "wrong")
            let folder = stage.folder.path
            let wrong = try await OtherProgram.importing(stage, "work", "--password-file", "\(folder)/wrong")
            #expect(wrong.end == .exited(75), "\(wrong)")
            #expect(wrong.errors.contains("'oidc-gen' failed with status 7"), "\(wrong)")
            #expect(wrong.errors.contains("without a terminal: --password-file FILE"), "\(wrong)")
            let moved = try await OtherProgram.importing(stage, "work", "--password-file", "\(folder)/password")
            #expect(moved.end == .exited(0), "\(moved)")
            #expect(await issuer.counters.refreshes == 1)
            #expect(try await daemon.terminate() == .exited(0))
        }
    }

    @Test func `an encrypted token file is opened by its script, and only when it is taken over`() async throws {
        try await withIssuer { issuer, url in
            let stage = try DaemonStage()
            let daemon = try await stage.start()
            let grant = try await issuer.issueGrant(clientID: "app")
            try OtherProgram.keepEncrypted(issuer: url, refreshToken: grant.refreshToken, in: stage)
            let opened = stage.folder.path + "/opened"

            let table = try await OtherProgram.importing(stage, "--dry-run")
            #expect(table.output.contains("tokens  mutt_oauth2  encrypted  grant and settings"), "\(table)")
            #expect(!FileManager.default.fileExists(atPath: opened))

            let moved = try await OtherProgram.importing(stage, "tokens")
            #expect(moved.end == .exited(0), "\(moved)")
            #expect(moved.output.contains("rm '\(stage.folder.path)/tokens'"), "\(moved)")
            #expect(!(moved.output + moved.errors).contains(grant.refreshToken))
            #expect(FileManager.default.fileExists(atPath: opened))
            #expect(await issuer.counters.refreshes == 1)
            #expect(try await stage.authctl("token", "tokens").end == .exited(0))
            #expect(try await daemon.terminate() == .exited(0))
        }
    }

    @Test func `an encrypted token file is left alone without a script, or if its command fails`() async throws {
        try await withIssuer { issuer, url in
            let stage = try DaemonStage()
            let daemon = try await stage.start()
            let grant = try await issuer.issueGrant(clientID: "app")
            try OtherProgram.keepEncrypted(issuer: url, refreshToken: grant.refreshToken, in: stage)
            try stage.folder.write("#!/bin/sh\nexit 3\n", to: "bin/unlock", mode: 0o700)
            let locked = try await OtherProgram.importing(stage, "tokens")
            #expect(locked.end == .exited(75), "\(locked)")
            #expect(locked.errors.contains("'unlock' failed with status 3"), "\(locked)")
            try FileManager.default.removeItem(atPath: stage.folder.path + "/bin/mutt_oauth2.py")
            let alone = try await OtherProgram.importing(stage, "tokens")
            #expect(alone.end == .exited(65), "\(alone)")
            #expect(alone.errors.contains("its DECRYPTION_PIPE decrypts the file"), "\(alone)")
            #expect(try await stage.statuses().isEmpty)
            #expect(await issuer.counters.refreshes == 0)
            #expect(try await daemon.terminate() == .exited(0))
        }
    }

    @Test(arguments: ForeignFile.all)
    func `no request goes anywhere but to the server that the source names`(_ file: ForeignFile) async throws {
        let stage = try DaemonStage()
        let proxy = try RecordingProxy()
        let address = "http://127.0.0.1:\(proxy.port)"
        let profiles = SourceTree.root.appending(path: "etc/providers.d")
        for name in ["google", "microsoft", "zoho"] {
            let profile = try String(contentsOf: profiles.appending(path: name + ".yaml"), encoding: .utf8)
            try stage.folder.write(profile, to: "config/authrefreshd/providers.d/\(name).yaml")
        }
        let daemon = try await stage.start(environment: ["HTTPS_PROXY": address])
        for (name, text) in file.beside { try stage.folder.write(text, to: name, mode: 0o700) }
        try stage.folder.write(file.text, to: "away/source", mode: 0o600)
        let path = stage.folder.path + "/away/source"
        let outcome = try await OtherProgram.importing(stage, "--from", file.program, "--file", path, "--all")
        #expect(try await daemon.terminate() == .exited(0))
        #expect(proxy.hosts == [file.host], "\(outcome)")
    }

    @Test func `its texts call authctl by the name that a shell finds`() async throws {
        let stage = try DaemonStage()
        try stage.folder.write("", to: "bin/other")
        let link = stage.folder.path + "/bin/authrefreshctl"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: Program.products + "/authctl")
        let environment = stage.environment.merging(["PATH": stage.folder.path + "/bin"]) { $1 }
        let program = try Program(link, ["import", "work"], environment: environment)
        #expect(try await program.ended() == .exited(4))
        let hint = "authctl: hint: to see the accounts: authrefreshctl import --dry-run"
        #expect(program.errors.all.last == hint, "\(program.errorText)")
    }
}

/// What other programs keep, and stand-ins for the programs that open it.
private enum OtherProgram {
    /// Writes an account and the `oidc-gen` that prints it.
    static func keep(_ name: String, issuer: String, refreshToken: String, in stage: DaemonStage) throws {
        let account = """
            {"name": "\(name)", "issuer_url": "\(issuer)", "client_id": "app", "client_secret": "",
             "refresh_token": "\(refreshToken)", "scope": "openid", "redirect_uris": ["http://localhost:4242"]}
            """
        let program = """
            #!/bin/sh
            case $1 in
                --pw-file=*) [ "$(cat "${1#--pw-file=}")" = "correct horse" ] || exit 7; shift ;;
            esac
            [ "$1" = -p ] && exec cat "$HOME/.config/oidc-agent/$2"
            """
        try stage.folder.write(account, to: ".config/oidc-agent/\(name)")
        try stage.folder.write("", to: ".config/oidc-agent/issuer.config")
        try stage.folder.write(program, to: "bin/oidc-gen", mode: 0o700)
    }

    /// Writes a token file of mutt_oauth2.py, the script whose command opens it, and mutt's settings, which name both.
    static func keepEncrypted(issuer: String, refreshToken: String, in stage: DaemonStage) throws {
        let token = """
            {"registration": "own", "authflow": "devicecode", "email": "jane@example.org",
             "refresh_token": "\(refreshToken)"}
            """
        let script = """
            ENCRYPTION_PIPE = ['base64']
            DECRYPTION_PIPE = ['unlock', '--decode']
            registrations = {
                'own': {
                    'token_endpoint': '\(issuer)/token',
                    'client_id': 'app',
                },
            }
            """
        try stage.folder.write(Data(token.utf8).base64EncodedString(), to: "tokens")
        try stage.folder.write(script, to: "bin/mutt_oauth2.py", mode: 0o700)
        try stage.folder.write("#!/bin/sh\n: > \"$HOME/opened\"\nexec base64 \"$1\"\n", to: "bin/unlock", mode: 0o700)
        let settings = "set imap_oauth_refresh_command = \"mutt_oauth2.py ~/tokens\"\n"
        try stage.folder.write(settings, to: ".muttrc")
    }

    static func importing(_ stage: DaemonStage, _ arguments: String...) async throws -> CommandOutcome {
        let environment = stage.environment.merging(["PATH": stage.folder.path + "/bin:/usr/bin:/bin"]) { $1 }
        let program = try Program("authctl", ["import"] + arguments, environment: environment)
        let end = try await program.ended()
        return CommandOutcome(output: program.outputText, errors: program.errorText, end: end)
    }
}

/// A file of another program that names a server, which does not exist.
struct ForeignFile: CustomTestStringConvertible, Sendable {
    let program: String
    let host: String
    let text: String
    /// Other files that the program needs, by their paths in the home folder.
    var beside: [String: String] = [:]

    var testDescription: String { "\(program), \(host)" }

    private static func rclone(_ host: String, _ settings: String) -> ForeignFile {
        let token = #"{"access_token":"at","refresh_token":"rt"}"#
        let text = "[r]\n\(settings)\nclient_id = c\nclient_secret = s\ntoken = \(token)\n"
        return ForeignFile(program: "rclone", host: host, text: text)
    }

    /// What kubelogin keeps for a user: an ID token, which names the server, and the refresh token.
    private static var kubeloginCache: String {
        let claims = Data(#"{"iss":"https://as.example.net","aud":"c"}"#.utf8).base64EncodedString()
            .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
        return #"{"id_token":"e30.\#(claims).AAAA","refresh_token":"rt"}"#
    }

    static let all = [
        ForeignFile(
            program: "oidc-agent",
            host: "as.example.net",
            text: """
                {"name": "w", "issuer_url": "https://as.example.net/", "client_id": "c", "client_secret": "s",
                 "refresh_token": "rt"}
                """,
            beside: ["bin/oidc-gen": "#!/bin/sh\nexec cat \"$2\"\n"]
        ),
        ForeignFile(
            program: "mutt_oauth2",
            host: "as.example.net",
            text: #"{"registration": "google", "authflow": "x", "email": "j@example.org", "refresh_token": "rt"}"#,
            beside: [
                "away/mutt_oauth2.py": """
                registrations = {
                    'google': {
                        'token_endpoint': 'https://as.example.net/t',
                        'client_id': 'c',
                        'client_secret': 's',
                    },
                }
                """
            ]
        ),
        ForeignFile(
            program: "kubelogin",
            host: "as.example.net",
            text: """
                users:
                - name: joe
                  user:
                    exec:
                      apiVersion: client.authentication.k8s.io/v1
                      command: kubectl
                      args: [oidc-login, get-token, --oidc-issuer-url=https://as.example.net, --oidc-client-id=c,
                             --oidc-client-secret=s, --token-cache-dir=~/away/cache]
                """,
            beside: ["away/cache/" + String(repeating: "5e", count: 32): kubeloginCache]
        ),
        ForeignFile(
            program: "onedrive",
            host: "login.microsoftonline.de",
            text: "rt",
            beside: ["away/config": "application_id = \"c\"\nazure_ad_endpoint = \"DE\"\n"]
        ),
        rclone("as.example.net", "type = drive\ntoken_url = https://as.example.net/x/token"),
        rclone(
            "as.example.net",
            "type = jottacloud\ntokenURL = https://as.example.net/realms/r/protocol/openid-connect/token"
        ),
        rclone("login.microsoftonline.de", "type = onedrive\nregion = de"),
        rclone("accounts.zoho.eu", "type = zoho\nregion = eu"),
        rclone("login.partner.microsoftonline.cn", "type = onedrive\nregion = cn"),
        ForeignFile(
            program: "az",
            host: "adfs.example.net",
            text: """
                {"RefreshToken": {"k": {"secret": "rt", "home_account_id": "a.t", "environment": "adfs.example.net",
                 "client_id": "c"}}}
                """
        ),
        ForeignFile(
            program: "gcloud",
            host: "sts.example.net",
            text: """
                {"type": "external_account_authorized_user", "client_id": "c", "client_secret": "s", "refresh_token": "rt",
                 "token_url": "https://sts.example.net/v1/oauthtoken"}
                """
        ),
        ForeignFile(
            program: "gcloud",
            host: "accounts.google.com",
            text: #"{"type": "authorized_user", "client_id": "c", "client_secret": "s", "refresh_token": "rt"}"#
        ),
        ForeignFile(
            program: "kubeconfig",
            host: "as.example.net",
            text: """
                users:
                - name: joe
                  user:
                    auth-provider:
                      name: oidc
                      config: {client-id: c, idp-issuer-url: "https://as.example.net", refresh-token: rt}
                """
        ),
        ForeignFile(
            program: "aerc",
            host: "as.example.net",
            text: """
                [Work]
                source = imaps+oauthbearer://me%40x:rt@imap.example.org?client_id=c&token_endpoint=https%3A%2F%2Fas.example.net%2Ft
                """
        ),
        ForeignFile(
            program: "file",
            host: "as.example.net",
            text: #"{"client_id": "c", "refresh_token": "rt", "token_uri": "https://as.example.net/t"}"#
        ),
    ]
}

/// A proxy that connects to nothing, and records where it was asked to connect to.
private final class RecordingProxy: Sendable {
    let port: UInt16
    private let listener: Int32
    private let asked = Mutex<Set<String>>([])

    init() throws {
        (listener, port) = try LoopbackSocket.listening()
        startThread { [weak self, listener] in
            while case let connection = accept(listener, nil, nil), connection >= 0 {
                // CONNECT as.example.net:443 HTTP/1.1
                var head = [UInt8](repeating: 0, count: 4096)
                let count = unsafe read(connection, &head, head.count)
                let words = String(decoding: head.prefix(max(0, count)), as: UTF8.self).split(separator: " ")
                if words.first == "CONNECT", let host = words.dropFirst().first?.split(separator: ":").first {
                    _ = self?.asked.withLock { $0.insert(String(host)) }
                }
                let text = "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
                _ = unsafe write(connection, text, text.utf8.count)
                close(connection)
            }
        }
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
    }

    /// The hosts that it was asked for.
    var hosts: Set<String> { asked.withLock(\.self) }
}
