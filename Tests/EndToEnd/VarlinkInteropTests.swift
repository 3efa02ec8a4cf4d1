import AuthRefreshInterface
import DemoIssuer
import Foundation
import TestSupport
import Testing

/// A Varlink client from another project.
struct VarlinkInteropTests {
    private static let python = ProcessInfo.processInfo.environment["AUTHREFRESH_PYTHON"]
    private static let script = URL(filePath: #filePath).deletingLastPathComponent().appending(
        path: "varlink_client.py"
    )

    @Test(.enabled(if: python != nil, "AUTHREFRESH_PYTHON names no Python that has the varlink package"))
    func `the Python client reads the description, calls, understands errors and subscribes`() async throws {
        let python = try #require(Self.python)
        try await withIssuer { issuer, url in
            let stage = try DaemonStage()
            let daemon = try await stage.start()
            try await stage.add("work", issuer: url, grant: issuer.issueGrant(clientID: "app"))
            try await stage.acquire("work")
            let client = try Program(python, [Self.script.path, stage.socket, "work"], environment: stage.environment)
            let end = try await client.ended()
            #expect(end == .exited(0), "\(client.errorText)")
            #expect(client.outputText == "ok")
            #expect(try await daemon.terminate() == .exited(0))
        }
    }
}
