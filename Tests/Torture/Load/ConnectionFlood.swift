internal import AuthRefreshInterface
internal import TestSupport

/// More connections at once than the daemon accepts, each with a call.
struct ConnectionFlood {
    /// Threads that connect at the same time.
    private static let width = 8

    struct Outcome: Sendable {
        var answered = 0
        /// How many were refused because this process had as many as it may.
        var refused = 0
        var surprises: [String] = []

        fileprivate static func + (one: Outcome, other: Outcome) -> Outcome {
            Outcome(
                answered: one.answered + other.answered,
                refused: one.refused + other.refused,
                surprises: Array((one.surprises + other.surprises).prefix(5))
            )
        }
    }

    let socket: String

    /// Opens `count` connections, and closes them when all have been tried.
    ///
    /// - Parameter whileOpen: the checks to make while all are open.
    func run(_ count: Int, whileOpen: () async throws -> Void) async throws -> Outcome {
        let parts = try await withThrowingTaskGroup(of: ([RawConnection], Outcome).self) { [socket] group in
            for part in 0..<Self.width {
                let share = count / Self.width + (part < count % Self.width ? 1 : 0)
                group.addTask { try await onOwnThread { try Self.open(share, socket) } }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        try await whileOpen()
        return withExtendedLifetime(parts) { parts.map(\.1).reduce(Outcome(), +) }
    }

    private static func open(_ count: Int, _ socket: String) throws -> ([RawConnection], Outcome) {
        var (connections, outcome) = ([RawConnection](), Outcome())
        for _ in 0..<count {
            let connection = try RawConnection(socket)
            try connection.send(#"{"method":"io.authrefresh.GetInfo"}"# + "\0")
            let answer = try connection.receive()
            if answer.contains(#""limit":"connections""#) {
                outcome.refused += 1
            } else if answer.contains(#""accounts":"#) {
                outcome.answered += 1
            } else if outcome.surprises.count < 5 {
                outcome.surprises.append(answer.isEmpty ? "closed without a word" : answer)
            }
            connections.append(connection)
        }
        return (connections, outcome)
    }
}
