internal import TestSupport

/// A server of the floor, running.
struct FloorServer {
    let socket: String
    private let program: Program

    /// Starts it, and returns when it listens.
    ///
    /// - Parameters:
    ///   - program: the server's path, one of `FloorPrograms`.
    ///   - reply: what it answers to everything.
    init(_ program: String, in workshop: Workshop, reply: String) async throws {
        socket = workshop.folder.path + "/floor-" + String(UInt32.random(in: 0 ... .max), radix: 36)
        self.program = try Program(program, [socket, reply], environment: [:])
        try await self.program.output.first("the floor's server", within: .seconds(10)) { $0 == "ready" }
    }

    func stop() {
        program.signal(15)
    }
}
