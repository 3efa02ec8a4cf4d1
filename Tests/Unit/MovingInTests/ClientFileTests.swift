import AuthRefreshInterface
import Basics
import Testing

/// The JSON files of other programs that name a client. The names of their members come from the programs' sources.
struct ClientFileTests {
    private func client(_ text: String) throws -> FileClient {
        guard case .client(let client)? = ClientFile(Array(text.utf8)) else { throw Unread() }
        return client
    }

    private struct Unread: Error {}

    @Test(arguments: [
        // google-auth
        #"{"token": "t", "refresh_token": "R", "token_uri": "https://oauth2.googleapis.com/token", "client_id": "C", "#
            + #""client_secret": "S", "scopes": ["x"], "universe_domain": "googleapis.com", "account": "", "expiry": "e"}"#,
        // oauth2client, and its store of several
        #"{"access_token": "t", "client_id": "C", "client_secret": "S", "refresh_token": "R", "scopes": ["x"], "#
            + #""token_uri": "https://www.googleapis.com/oauth2/v4/token", "_class": "OAuth2Credentials"}"#,
        #"{"data": [{"key": {}, "credential": {"client_id": "C", "client_secret": "S", "refresh_token": "R", "scopes": "#
            + #"["x"], "token_uri": "https://accounts.google.com/o/oauth2/token"}}], "file_version": 1}"#,
        // getmail
        #"{"scope": "x", "user": "", "client_id": "C", "client_secret": "S", "token_uri": "#
            + #""https://accounts.google.com/o/oauth2/token", "refresh_token": "R", "expires_at": 1.5}"#,
        // sasl-xoauth2
        #"{"client_id": "C", "client_secret": "S", "token_endpoint": "https://oauth2.googleapis.com/token", "#
            + #""refresh_token": "R", "access_token": "t", "expiry": "0", "scope": "x"}"#,
        // mutt_oauth2.py, with a client of its own
        #"{"registration": "google", "authflow": "x", "client_id": "C", "client_secret": "S", "refresh_token": "R", "scope": "x"}"#,
        // googleapis for Node
        #"{"client_id": "C", "client_secret": "S", "tokens": {"access_token": "t", "refresh_token": "R"}, "scope": "x", "#
            + #""token_uri": "https://oauth2.googleapis.com/token"}"#,
        // with the mark that other systems' editors write
        "\u{FEFF}"
            + #"{"type": "authorized_user", "client_id": "C", "client_secret": "S", "refresh_token": "R", "scope": "x"}"#,
    ])
    func `a grant with its client is read, whoever wrote it`(_ text: String) throws {
        let client = try client(text)
        #expect(client.id == "C" && client.secret?.reveal() == "S" && client.refreshToken?.reveal() == "R")
        #expect(client.server?.provider == "google")
        #expect(client.scopes == ["x"])
    }

    @Test func `a grant without a client may name the person and the server`() throws {
        let oama = try client(
            #"{"access_token": "t", "refresh_token": "R", "service": "microsoft", "email": "me@x.org"}"#
        )
        #expect(oama.id == nil && oama.server?.provider == "microsoft" && oama.username == "me@x.org")
        let vdirsyncer = try client(
            #"{"access_token": "t", "refresh_token": "R", "scope": ["a", "b"], "expires_at": 1.5}"#
        )
        #expect(vdirsyncer.id == nil && vdirsyncer.server == nil && vdirsyncer.scopes == ["a", "b"])
    }

    @Test func `a cloud that another company runs with Google's software is not Google`() throws {
        let members = #""client_id": "C", "refresh_token": "R", "universe_domain": "cloud.example""#
        let text = #"{"type": "authorized_user", \#(members)}"#
        #expect(try client(text).server == nil)
    }

    @Test func `a client without a grant is read`() throws {
        #expect(try client(#"{"client_id": "C", "client_secret": "S"}"#).secret?.reveal() == "S")
        #expect(try client(#"{"installed": {"client_id": "C", "client_secret": "S"}}"#).server?.provider == "google")
        let keycloak = try client(
            #"{"realm": "r", "auth-server-url": "https://k.example/", "resource": "C", "credentials": {"secret": "S"}}"#
        )
        #expect(keycloak.id == "C" && keycloak.secret?.reveal() == "S")
        #expect(keycloak.server?.issuer == "https://k.example/realms/r")
        let azure = try client(
            #"{"clientId": "C", "clientSecret": "S", "tenantId": "t", "#
                + #""activeDirectoryEndpointUrl": "https://login.chinacloudapi.cn"}"#
        )
        #expect(azure.server?.variables == ["cloud": "china", "tenant": "t"])
    }

    @Test(arguments: [
        "", "{}", "[]", #"{"refresh_token": ""}"#, #"{"format": "authrefresh-account/1", "clientSecret": "s"}"#,
    ])
    func `anything else is not a client's file`(_ text: String) {
        #expect(ClientFile(Array(text.utf8)) == nil)
    }

    @Test func `what Google calls a key, or a workload, is told apart`() {
        guard case .serviceAccountKey? = ClientFile(Array(#"{"type": "service_account", "client_id": "1"}"#.utf8)),
            case .externalAccount? = ClientFile(Array(#"{"type": "external_account"}"#.utf8))
        else {
            Issue.record("read as something else")
            return
        }
    }

    @Test func `a file's server is compared with the account's`() {
        let google = NamedServer(provider: "google")
        #expect(google.agrees(withProvider: "google", issuer: nil))
        #expect(!google.agrees(withProvider: "microsoft", issuer: nil))
        #expect(google.agrees(withProvider: nil, issuer: "https://accounts.google.com"))
        #expect(!google.agrees(withProvider: nil, issuer: "https://as.example.org"))
        #expect(google.agrees(withProvider: nil, issuer: nil))
    }
}
