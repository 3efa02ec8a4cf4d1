import Foundation
import Testing

@testable import OAuthClient

struct RedactionTests {
    /// Where secrets may be opened in this module: form bodies and credential headers.
    private static let openers: [String: Int] = [
        "AuthorizationParameters.swift": 3, "ClientCredentials.swift": 3, "ClientIdentity.swift": 1,
        "CodeExchange.swift": 2,
        "ClientGrant.swift": 3, "DeviceAuthorization.swift": 1, "OAuthClient+EndSession.swift": 2,
        "OAuthClient+Authorization.swift": 1, "OAuthClient+Registration.swift": 1, "HTTPClients.swift": 1,
        "OAuthClient.swift": 1, "OAuthClient+Introspection.swift": 1, "OAuthClient+LastingTokens.swift": 1,
        "Revocation.swift": 1,
    ]

    @Test func `secrets are opened only where a request is written, the refresh token in one place`() throws {
        let folder = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Sources/OAuthClient", isDirectory: true).resolvingSymlinksInPath()
        var found: [String: Int] = [:]
        let files = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
        for case let file as URL in files where file.pathExtension == "swift" {
            let text = try String(contentsOf: file, encoding: .utf8)
            let count = text.ranges(of: ".reveal()").count + text.ranges(of: ".withBytes").count
            if count > 0 { found[file.lastPathComponent] = count }
        }
        #expect(found == Self.openers)
    }
}
