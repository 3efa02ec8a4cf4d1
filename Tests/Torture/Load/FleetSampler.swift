internal import AuthRefreshInterface
internal import Foundation
internal import TextEncodings
internal import Synchronization
internal import TestSupport

/// Callers that ask for tokens and states all the time, and check the answers.
final class FleetSampler: Sendable {
    struct Result {
        var tokens = 0
        var statuses = 0
        /// How long each `AcquireToken` took, in µs.
        var waits: [Int64] = []
        var surprises: [String] = []
    }

    /// The most surprises kept. The first ones show what is wrong.
    fileprivate static let surprisesMax = 5
    /// The pause between two calls of one caller. All callers together get a few hundred tokens a second.
    private static let pause = 0.01
    /// The pause between two pages of the states.
    private static let pagePause = 0.1

    private let result = Mutex(Result())
    private let isOver = Mutex(false)
    private let fleet: Fleet

    init(_ fleet: Fleet) {
        self.fleet = fleet
    }

    /// Asks until `finish`.
    ///
    /// - Throws: the error that ended a caller too early.
    func run(_ socket: String, callers: Int) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<callers {
                group.addTask { [self] in
                    try await onOwnThread { try self.askForTokens(socket, seed: UInt64(number)) }
                }
            }
            group.addTask { [self] in try await onOwnThread { try self.walk(socket) } }
            try await group.waitForAll()
        }
    }

    func finish() {
        isOver.withLock { $0 = true }
    }

    var outcome: Result { result.withLock { $0 } }

    private func askForTokens(_ socket: String, seed: UInt64) throws {
        var connection = try VarlinkConnection(path: socket)
        var random = SplitMix64(seed: seed)
        while !isOver.withLock({ $0 }) {
            let name = random.pick(fleet.names)
            let (start, asked) = (Duration.nowUSec, fleet.stage.nowUSec)
            let reply = try connection.call(
                Method.acquireToken.rawValue,
                parameters: "{\"account\":\(JSONText.quote(name))}",
                timeoutMilliseconds: 120_000
            )
            let took = Duration.nowUSec - start
            result.withLock { result in
                result.tokens += 1
                result.waits.append(took)
                if let error = reply.error {
                    result.surprise("\(name): \(error) \(reply.parameters.text)")
                } else if reply.parameters["expiresAtUSec"]?.integer ?? 0 <= asked {
                    result.surprise("\(name): a token was given out that had ended")
                }
            }
            Thread.sleep(forTimeInterval: Self.pause)
        }
    }

    /// Reads the states of all accounts, page by page, again and again.
    private func walk(_ socket: String) throws {
        var connection = try VarlinkConnection(path: socket)
        var next: String?
        while !isOver.withLock({ $0 }) {
            let asked = fleet.stage.nowUSec
            let reply = try connection.call(
                Method.getStatus.rawValue,
                parameters: next.map { "{\"after\":\(JSONText.quote($0))}" } ?? "{}",
                timeoutMilliseconds: 120_000
            )
            let statuses = reply.parameters["accounts"]?.elements ?? []
            next = reply.parameters["next"]?.string
            result.withLock { result in
                result.statuses += statuses.count
                for status in statuses where status["expiresAtUSec"]?.integer ?? 0 <= asked {
                    result.surprise("no valid token: \(status.text)")
                }
                if let error = reply.error { result.surprise("\(error) \(reply.parameters.text)") }
            }
            Thread.sleep(forTimeInterval: Self.pagePause)
        }
    }
}

extension FleetSampler.Result {
    fileprivate mutating func surprise(_ text: String) {
        if surprises.count < FleetSampler.surprisesMax { surprises.append(text) }
    }
}
