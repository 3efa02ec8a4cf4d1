import AuthRefreshInterface
import Basics
import Foundation
@testable import authimport
import RefreshCore
import Testing

struct MuttOAuth2TokenTests {
    /// A token as the script writes it.
    private static let token = """
        {"registration": "microsoft", "authflow": "devicecode", "email": "jane@example.org", "access_token": "at",
        "access_token_expiration": "2026-11-25T12:00:00", "refresh_token": "rt-1"}
        """

    /// The part of Debian's copy (mutt 2.2.12) that each user edits, after editing.
    private static let script = """
        ENCRYPTION_PIPE = ['gpg', '--encrypt', '--recipient', 'YOUR_GPG_IDENTITY']
        DECRYPTION_PIPE = ['gpg', '--decrypt']

        registrations = {
            'google': {
                'token_endpoint': 'https://accounts.google.com/o/oauth2/token',
                'scope': 'https://mail.google.com/',
                'client_id': 'g-1',
                'client_secret': 'g-secret',
            },
            'microsoft': {
                'token_endpoint': 'https://login.microsoftonline.com/common/oauth2/v2.0/token',
                'tenant': '8d3c0f6e-0000-4000-8000-000000000000',
                'scope': ('offline_access https://outlook.office.com/IMAP.AccessAsUser.All '
                          'https://outlook.office.com/SMTP.Send'),
                'client_id': 'm-1',
                'client_secret': '',
            },
            'own': {
                'token_endpoint': 'http://127.0.0.1:8080/token',
                'client_id': 'o-1',
            },
        }

        ap = argparse.ArgumentParser(epilog='x')
        """

    private func read(_ token: String = token, script: String? = script) throws -> MovableAccount {
        let copy = try script.map { try MuttOAuth2Script(Array($0.utf8), origin: "script") }
        return try MuttOAuth2Token.account(in: Array(token.utf8), script: copy, origin: "token")
    }

    @Test func `the grant comes from the token file, and the client from the script`() throws {
        let account = try read()
        #expect(
            account.settings
                == AccountSettings(name: "jane@example.org", provider: "microsoft", clientId: "m-1") {
                    $0.variables = ["tenant": "8d3c0f6e-0000-4000-8000-000000000000"]
                    $0.scopes = [
                        "offline_access", "https://outlook.office.com/IMAP.AccessAsUser.All",
                        "https://outlook.office.com/SMTP.Send",
                    ]
                    $0.username = "jane@example.org"
                }
        )
        #expect(account.refreshToken == Secret("rt-1"))
        #expect(account.clientSecret == nil)
        #expect(account.notes.isEmpty)
        let google = try read(Self.token.replacing("microsoft", with: "google"))
        #expect(google.settings.provider == "google" && google.clientSecret == Secret("g-secret"))
    }

    @Test func `another layout of the script means the same`() throws {
        let usual = try read()
        let black = Self.script.replacing("'", with: "\"").replacing("        ", with: "\t")
        #expect(try read(script: black).settings == usual.settings)
        let lines = Self.script.split(separator: "\n").map { "\($0)  # it's \"so\"" }.joined(separator: "\r\n")
        #expect(try read("\u{FEFF}" + Self.token, script: "\u{FEFF}" + lines).settings == usual.settings)
    }

    @Test func `what Python computes is named, and nothing is sent to a server that may be another`() throws {
        let script = Self.script.replacing("'m-1'", with: "os.environ['MAIL_CLIENT']")
        let account = try read(script: script)
        #expect(account.settings.clientId == nil)
        #expect(
            account.notes.map(\.text) == [
                "The script reads the client id from the environment variable 'MAIL_CLIENT', so it was not taken over."
            ]
        )
        let elsewhere = try read(
            script: Self.script.replacing(
                "'https://login.microsoftonline.com/common/oauth2/v2.0/token'",
                with: "f'https://{HOST}/token'"
            )
        )
        #expect(elsewhere.settings.provider == nil && elsewhere.settings.issuer == nil)
    }

    @Test func `the token file, or an option, may name the client`() throws {
        let own = try read(Self.token.replacing("\"rt-1\"", with: "\"rt-1\", \"client_id\": \"own\""), script: nil)
        #expect(own.settings.clientId == "own" && own.notes.isEmpty)
        let place = MuttOAuth2Token.Place(script: "s", tokenFile: "t", options: ["--client-id": "option"])
        let account = try MuttOAuth2Token.account(in: Array(Self.token.utf8), script: nil, place: place, origin: "t")
        #expect(account.settings.clientId == "option")
    }

    @Test(arguments: [
        ("set x=\"mutt_oauth2.py --decryption-pipe 'gpg -d' -v /t\"", ["gpg", "-d"]),
        ("set x = \"python3 'mutt_oauth2.py' --decryption-pipe=\\\"gpg -d\\\" '/t' | cat\"", ["gpg", "-d"]),
        ("PassCmd \"mutt_oauth2.py --encryption-pipe cat /t\"", nil),
        ("source-cred-cmd = mutt_oauth2.py --quiet /t", nil), ("set x=`mutt_oauth2.py /t -t`", nil),
    ])
    func `options of the script, and quotes, may stand around the token file`(_ line: String, _ words: [String]?) {
        let places = MuttOAuth2Token.places(in: Array(line.utf8), home: "/home/jane")
        #expect(places.map(\.tokenFile) == ["/t"])
        #expect(places.first?.decryption == words)
    }

    @Test func `sourced files are found, and commands are not files`() {
        let settings = "source ~/.mutt/oauth\nsource 'more'\nsource \"gpg -d x |\"\n# source no\nset x = y\n"
        let files = MailSettings.sourced(by: Array(settings.utf8), home: "/home/jane", folder: "/etc/mutt/")
        #expect(files == ["/home/jane/.mutt/oauth", "/etc/mutt/more"])
    }

    @Test func `an unknown server is named by its origin, which is reported as a guess`() throws {
        let account = try read(Self.token.replacing("microsoft", with: "own"))
        #expect(account.settings.issuer == "http://127.0.0.1:8080")
        #expect(account.settings.provider == nil)
        #expect(account.notes.count == 1 && account.notes[0].text.contains("is a guess"))
    }

    @Test func `without the script the client is unknown, and the reason is reported`() throws {
        let account = try read(script: nil)
        #expect(account.settings.provider == "microsoft" && account.settings.clientId == nil)
        #expect(account.notes.count == 1 && account.notes[0].text.hasPrefix("The client id is not known."))
    }

    @Test(arguments: [[0x85, 0x01], Array("-----BEGIN PGP MESSAGE-----\n".utf8)])
    func `an encrypted file is reported as encrypted`(_ bytes: [UInt8]) {
        let error = #expect(throws: ProgramError.self) {
            try MuttOAuth2Token.account(in: bytes, script: nil, origin: "token")
        }
        #expect(error?.message == "'token' is encrypted" && error?.hint?.text.contains("DECRYPTION_PIPE") == true)
        #expect(MuttOAuth2Token.isEncrypted(bytes))
    }

    @Test(arguments: ["", "{}", #"{"registration": "google"}"#, "null"])
    func `any other content is reported as the wrong format`(_ text: String) {
        let error = ProgramError.wrongFormat("token", expected: "the token file of mutt_oauth2.py, decrypted")
        #expect(throws: error) { try read(text) }
    }

    @Test func `token files are found in the settings of mail programs`() {
        let settings = """
            # set imap_oauth_refresh_command="~/old/mutt_oauth2.py ~/old/token"
            set imap_oauth_refresh_command = "python3 ~/bin/mutt_oauth2.py --verbose ~/.mutt/token"
            PassCmd "$HOME/bin/mutt_oauth2.py /srv/token"
            set smtp_oauth_refresh_command="~/bin/mutt_oauth2.py ~/.mutt/token"
            """
        #expect(
            MuttOAuth2Token.places(in: Array(settings.utf8), home: "/home/jane") == [
                .init(script: "/home/jane/bin/mutt_oauth2.py", tokenFile: "/home/jane/.mutt/token"),
                .init(script: "/home/jane/bin/mutt_oauth2.py", tokenFile: "/srv/token"),
            ]
        )
    }

    @Test(
        .enabled(
            if: FileManager.default.fileExists(atPath: "/usr/share/doc/mutt/examples/mutt_oauth2.py"),
            "the package 'mutt' is not installed"
        )
    )
    func `Debian's copy of the script is understood`() throws {
        let path = "/usr/share/doc/mutt/examples/mutt_oauth2.py"
        let bytes = try #require(FileManager.default.contents(atPath: path))
        let script = try MuttOAuth2Script(Array(bytes), origin: path)
        #expect(script.decryption == ["gpg", "--decrypt"])
        #expect(script.registrations.keys.sorted() == ["google", "microsoft"])
        #expect(script.registrations["microsoft"]?["scope"]?.hasSuffix("SMTP.Send") == true)
        #expect(script.registrations["google"]?["client_id"]?.isEmpty == true)
    }
}
