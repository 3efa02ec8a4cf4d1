internal import DemoIssuer
internal import Foundation
internal import TestSupport

/// Debian's oidc-agent with one account that has been refreshed, for comparison.
final class OIDCAgent: Sendable {
    /// A confidential client, because oidc-agent cannot register one at a server without registration.
    static let client = DemoClient(
        id: "oidc-agent",
        authentication: .basic(secret: "made-up-secret", form: .formEncoded)
    )
    private static let account = "work"
    /// The paths of Debian's programs.
    private static let (agent, generator, tokenProgram) = (
        "/usr/bin/oidc-agent", "/usr/bin/oidc-gen", "/usr/bin/oidc-token"
    )

    private let folder: TemporaryFolder
    private let pid: Int32

    /// The command that asks it for a token.
    let tokenCommand = [tokenProgram, account]
    let environment: [String: String]

    /// Starts it, and signs it in at an issuer that has the client `client`.
    ///
    /// - Returns: nil if it is not installed.
    /// - Throws: `BenchError` if it cannot be set up.
    init?(at issuer: LocalIssuer) async throws {
        let programs = [Self.agent, Self.generator, Self.tokenProgram]
        guard programs.allSatisfy(FileManager.default.isExecutableFile(atPath:)) else { return nil }
        folder = try TemporaryFolder()
        let socket = folder.path + "/socket"
        try FileManager.default.createDirectory(
            atPath: folder.path + "/.config/oidc-agent",
            withIntermediateDirectories: true
        )
        environment = ["HOME": folder.path, "PATH": "/usr/bin:/bin", "LC_ALL": "C", "OIDC_SOCK": socket]
        // It moves to the background, and listens after that.
        let lines = try await FloorPrograms.output(
            of: Self.agent,
            ["--socket-path=\(socket)"],
            environment: environment
        )
        guard let pid = lines.compactMap(Self.pid).first else {
            throw BenchError.unreadable(Self.agent, output: lines.joined(separator: "\n"))
        }
        self.pid = pid
        let grant = try await issuer.issuer.issueGrant(
            clientID: Self.client.id,
            // The scope that it always requests.
            scope: "openid demo offline_access"
        )
        var secrets = environment
        secrets["OIDC_REFRESH_TOKEN"] = grant.refreshToken
        secrets["OIDC_ENCRYPTION_PW"] = "made-up password"
        _ = try await FloorPrograms.output(
            of: Self.generator,
            [
                "--issuer=\(issuer.url)", "--cert-path=\(issuer.caFile)", "--client-id=\(Self.client.id)",
                "--client-secret=made-up-secret", "--scope=demo", "--redirect-uri=http://localhost:4242",
                "--flow=refresh", "--rt-env", "--pw-env", "--confirm-default", Self.account,
            ],
            environment: secrets
        )
        _ = try await FloorPrograms.output(of: Self.tokenProgram, [Self.account], environment: environment)
    }

    /// The footprint of its processes together. Shared pages are counted in each.
    func footprint() throws -> ProcessFootprint {
        let children = "/proc/\(pid)/task/\(pid)/children"
        let pids = ((try? String(contentsOfFile: children, encoding: .utf8)) ?? "").split(separator: " ")
        return try pids.compactMap { Int32($0) }.reduce(try ProcessFootprint(of: pid)) { sum, pid in
            sum + (try ProcessFootprint(of: pid))
        }
    }

    /// It runs in the background, so it must be ended here, even if the bench fails.
    deinit {
        kill(pid, SIGTERM)
    }

    /// The number in `OIDCD_PID=12345; export OIDCD_PID;`.
    private static func pid(_ line: String) -> Int32? {
        guard let value = line.wholeMatch(of: /OIDCD_PID=(\d+);.*/) else { return nil }
        return Int32(value.1)
    }
}
