internal import TestSupport

/// A running floor server.
struct FloorServer {
    let socket: String
    private let program: Program

    /// Starts the server, and returns when it listens.
    ///
    /// - Parameters:
    ///   - program: the server's path, one of `FloorPrograms`.
    ///   - reply: its answer to every call.
    init(_ program: String, in workshop: Workshop, reply: String) async throws {
        socket = workshop.folder.path + "/floor-" + String(UInt32.random(in: 0 ... .max), radix: 36)
        self.program = try Program(program, [socket, reply], environment: [:])
        try await self.program.output.first("the floor's server", within: .seconds(10)) { $0 == "ready" }
    }

    func stop() {
        program.signal(15)
    }
}
