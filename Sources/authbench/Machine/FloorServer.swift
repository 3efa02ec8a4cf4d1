internal import TestSupport

/// The floor's server, running.
struct FloorServer {
    let socket: String
    private let program: Program

    /// Starts it, and returns when it listens.
    ///
    /// - Parameter reply: what it answers to everything.
    init(_ workshop: Workshop, reply: String) async throws {
        socket = workshop.folder.path + "/floor-" + String(UInt32.random(in: 0 ... .max), radix: 36)
        program = try Program(workshop.floor.server, [socket, reply], environment: [:])
        try await program.output.first("the floor's server", within: .seconds(10)) { $0 == "ready" }
    }

    func stop() {
        program.signal(15)
    }
}
