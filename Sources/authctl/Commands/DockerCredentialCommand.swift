internal import ArgumentParser
internal import AuthRefreshInterface
internal import Basics
internal import TextEncodings

/// `authctl docker-credential`, also called `docker-credential-authctl`.
struct DockerCredentialCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "docker-credential",
        abstract: "Give docker, podman, skopeo and buildah a token, as their credential helper.",
        discussion: """
            Examples:

              \(InvokedAs.here) account edit work --url https://registry.example.org/

            This makes docker ask it for that registry, in ~/.docker/config.json. For podman, skopeo and buildah, \
            write the same into ~/.config/containers/auth.json:

              {"credHelpers": {"registry.example.org": "authctl"}}

            These tools start it by themselves once their configuration names 'authctl' for a registry. It uses \
            the account whose address covers the longest part of the registry's address. The user name is the \
            account's own ('--username'), or its provider profile's, or 'oauth2accesstoken', which Google's \
            registries expect.

            There is nothing to store: 'docker login' is for other registries. 'docker logout' makes the daemon \
            replace the token.

            Errors are one line on standard output, with exit status 1, because these tools expect that.
            """
    )

    @Argument(help: "What the tool asks for: get, store, erase, list or version.")
    var operation: Operation

    @Flag(help: "Accepted by every command; the answer of this one is always JSON.")
    var json = false

    @OptionGroup var connection: ConnectionOptions

    enum Operation: String, CaseIterable, ExpressibleByArgument, Sendable {
        case get, store, erase, list, version
    }

    /// The user name for the token, if neither the account nor its profile has one.
    private static let username = "oauth2accesstoken"

    func run() throws(Report) {
        let answer: String
        do throws(Report) {
            answer = try self.answer()
        } catch {
            try StandardOutput.write(error.line + "\n")
            throw .reported(.helperFailed)
        }
        try StandardOutput.write(answer)
    }

    private func answer() throws(Report) -> String {
        switch operation {
        case .get: try get(server: Self.server(try StandardInput.toolText()))
        case .store: try store(StandardInput.toolText())
        case .erase: try erase(server: Self.server(try StandardInput.toolText()))
        case .list: try list()
        case .version: "docker-credential-authctl (authrefreshd) \(Version.text)\n"
        }
    }

    private func get(server: String) throws(Report) -> String {
        var daemon = try connection.connect()
        guard let found = try daemon.account(forServer: server) else {
            throw .usage("credentials not found in native keychain")
        }
        let token = try ToolToken(TokenRequest(account: found.name, socket: connection.socket), from: &daemon)
        return JSONText.object([
            ("ServerURL", JSONText.quote(server)), ("Username", JSONText.quote(found.username ?? Self.username)),
            ("Secret", JSONText.quote(token.secret.reveal())),
        ]) + "\n"
    }

    /// Handles a login. If the registry belongs to an account, the daemon has the token already. Otherwise the login is
    /// not for us.
    private func store(_ input: String) throws(Report) -> String {
        guard let document = JSONValue(input), let server = document["ServerURL"]?.string,
            let secret = document["Secret"]?.string
        else { throw .toolInput("has no ServerURL and Secret") }
        var daemon = try connection.connect()
        guard let found = try daemon.account(forServer: server) else {
            let server = PlainText.line(server)
            let url = server.contains("://") ? server : "https://\(server.drop { $0 == "/" })"
            throw .usage(
                "authctl stores no passwords, and no account has the address '\(server)'",
                hint: "\(Command("account", "edit", "ACCOUNT", "--url", url))"
            )
        }
        guard daemon.holds(secret, in: found.name, socket: connection.socket) else {
            throw .usage(
                "authctl stores no passwords: '\(PlainText.line(found.name))' has the token for '\(PlainText.line(server))'",
                hint: "no login is needed there"
            )
        }
        return ""
    }

    private func erase(server: String) throws(Report) -> String {
        var daemon = try connection.connect()
        guard let found = try daemon.account(forServer: server) else { return "" }
        // Only a person erases a login. So the token is named in the report, and then the daemon replaces it even if it
        // is new.
        let held = try? ToolToken(TokenRequest(account: found.name, socket: connection.socket), from: &daemon)
        try daemon.reportRejected(found.name, token: held?.secret)
        return ""
    }

    private func list() throws(Report) -> String {
        var daemon = try connection.connect()
        var names = JSONObjectText()
        var page = ListUrls.Parameters()
        repeat {
            let reply = try daemon.ask(page)
            for entry in reply.urls {
                names.add(Self.listed(entry.url), JSONText.quote(entry.username ?? Self.username))
            }
            page.after = reply.next
        } while page.after != nil
        return names.text + "\n"
    }

    /// The address as docker knows it. Docker looks for its own registry under one name only.
    private static func listed(_ url: String) -> String {
        ["https://docker.io", "https://docker.io/"].contains(url) ? "https://index.docker.io/v1/" : url
    }

    /// The server's address in docker's request.
    ///
    /// - Throws: `document` if there is none, or more than one.
    private static func server(_ input: String) throws(Report) -> String {
        // These words are those of docker-credential-helpers, because its client recognizes them.
        guard !input.allSatisfy(\.isWhitespace) else { throw .usage("no credentials server URL") }
        let lines = input.split(whereSeparator: \.isNewline)
        guard let line = lines.first, lines.count == 1 else {
            throw .toolInput("is not one address on one line")
        }
        return String(line)
    }
}
