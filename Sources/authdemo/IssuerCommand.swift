internal import ArgumentParser
internal import DemoIssuer
internal import Foundation

/// `authdemo issuer`.
struct IssuerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "issuer",
        abstract: "Serve only the authorization server, for scripts and tests.",
        discussion: """
            Examples:

              authdemo issuer --port 8080
              curl -d client_id=demo http://127.0.0.1:8080/admin/grants
              curl -X POST http://127.0.0.1:8080/admin/grants/1/revoke
              curl -d access_token_lifetime_ms=5000 http://127.0.0.1:8080/admin/policy
              curl http://127.0.0.1:8080/admin/counters
              curl 'http://127.0.0.1:8080/admin/log?after=0'

            Prints the issuer's URL on a line of its own and serves on 127.0.0.1 until SIGTERM or Ctrl-C. Everybody \
            who reaches the port can use its administration interface: get a new grant with its refresh token, revoke \
            a grant, and change how long access tokens live. The counters tell of requests, requests that overlap, and \
            refresh tokens that were used again. The log has every request.
            """
    )

    @Option(help: "TCP port on 127.0.0.1; 0 lets the system choose.")
    var port = 0

    @Option(help: ArgumentHelp("How long access tokens live.", valueName: "time"))
    var lifetime = WholeSeconds(count: 20)

    @Flag(inversion: .prefixedNo, help: "Replace the refresh token with each refresh.")
    var rotation = true

    @Flag(inversion: .prefixedNo, help: "End a grant whose spent refresh token is used again.")
    var detectReuse = true

    @Option(help: ArgumentHelp("How long a spent refresh token still gets its answer again.", valueName: "time"))
    var grace = WholeSeconds(count: 0)

    @Option(help: ArgumentHelp("A public client to know; may be given again.", valueName: "id"))
    var clientId: [String] = ["demo"]

    func validate() throws {
        guard (0...Int(UInt16.max)).contains(port) else { throw ValidationError("'--port' must be 0 to 65535") }
        guard lifetime.count > 0 else { throw ValidationError("'--lifetime' must be 1s or more") }
    }

    func run() async throws {
        let signals = AsyncStream.signals([SIGINT, SIGTERM])
        let policy = GrantPolicy(
            accessTokenLifetime: lifetime.duration,
            isRotating: rotation,
            detectsReuse: detectReuse,
            gracePeriod: grace.duration
        )
        let clients = clientId.map { DemoClient(id: $0) }
        let issuer = DemoIssuer(configuration: IssuerConfiguration(clients: clients, policy: policy, port: port))
        let url: String
        do {
            url = try await issuer.start()
        } catch {
            error.report()
            throw ExitCode.failure
        }
        guard FileHandle.standardOutput.print(url + "\n") else {
            await issuer.shutdown()
            DemoError.cannotWriteOutput.report()
            throw ExitCode.failure
        }
        for await _ in signals { break }
        await issuer.shutdown()
    }
}
