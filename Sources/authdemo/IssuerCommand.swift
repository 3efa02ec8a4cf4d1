internal import ArgumentParser
internal import DemoIssuer
internal import Foundation

/// `authdemo issuer`.
struct IssuerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "issuer",
        abstract: "Serve only the authorization server, for scripts and tests.",
        discussion: """
            Prints the issuer's URL on a line of its own and serves on 127.0.0.1 until SIGTERM or Ctrl-C. Grants come \
            from its administration interface, which whoever reaches the port can use:

              curl -d client_id=demo ISSUER/admin/grants              a new grant, refresh token included
              curl -X POST ISSUER/admin/grants/1/revoke               ends it
              curl -d access_token_lifetime_ms=5000 ISSUER/admin/policy
              curl ISSUER/admin/counters                              requests, overlaps, spent tokens used
              curl 'ISSUER/admin/log?after=0'                         every request
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
        let signals = SignalWatch([SIGINT, SIGTERM])
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
            StandardError.report(.issuer(error))
            throw ExitCode.failure
        }
        guard StandardOutput.write(url + "\n") else {
            await issuer.shutdown()
            StandardError.report(.cannotWriteOutput)
            throw ExitCode.failure
        }
        for await _ in signals.signals { break }
        await issuer.shutdown()
    }
}
