internal import AuthRefreshInterface
internal import DemoIssuer
internal import Foundation
internal import TestSupport
internal import TextEncodings

/// Many accounts of one daemon at one server.
struct Fleet: Sendable {
    /// Callers that add accounts at the same time. The accounts that they add are committed together.
    private static let width = 16

    let stage: DaemonStage
    let names: [String]

    static func name(_ number: Int) -> String { "account\(number)" }

    /// Adds the accounts, each with a grant of its own.
    init(of count: Int, at server: FleetServer, on stage: DaemonStage) async throws {
        self.stage = stage
        names = (0..<count).map(Self.name)
        let grants = try await server.issuer.issueGrants(count: count, clientID: "app")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for first in 0..<min(Self.width, count) {
                group.addTask { [socket = stage.socket, url = server.url, names] in
                    try await onOwnThread {
                        var connection = try VarlinkConnection(path: socket)
                        for number in stride(from: first, to: count, by: Self.width) {
                            try Self.add(names[number], url, grants[number].refreshToken, over: &connection)
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    private static func add(
        _ name: String,
        _ issuer: String,
        _ refreshToken: String,
        over connection: inout VarlinkConnection
    ) throws {
        let settings = AccountSettings(name: name, issuer: issuer, clientId: "app")
        let parameters = AddAccount.Parameters(settings: settings, refreshToken: refreshToken)
        let reply = try connection.call(
            Method.addAccount.rawValue,
            parameters: String(decoding: try JSONEncoder().encode(parameters), as: UTF8.self),
            timeoutMilliseconds: 120_000
        )
        if let error = reply.error { throw TestFault.refused(name: error, parameters: reply.parameters.text) }
    }
}

extension Duration {
    /// The time since 1970 by the wall clock, in µs.
    static var nowUSec: Int64 { Int64(Date.now.timeIntervalSince1970 * 1e6) }
}
