internal import TestSupport

/// A listener of another user in the place of the daemon's socket. It records how much it is sent.
struct Impostor {
    private static let script = """
        import os, socket, sys
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(sys.argv[1])
        os.chmod(sys.argv[1], 0o666)
        listener.listen(8)
        print("ready", flush=True)
        while True:
            caller = listener.accept()[0]
            print("heard", len(caller.recv(65536)), flush=True)
        """

    private let program: Program

    /// - Parameter path: the socket's path. Its folder must be writable for the listener.
    init(at path: String) async throws {
        let words = Onlookers.asUser + ["/usr/bin/python3", "-c", Self.script, path]
        program = try Program("/usr/bin/setpriv", words, environment: ["PATH": "/usr/bin:/bin"])
        try await program.output.first("the impostor") { $0 == "ready" }
    }

    /// How many bytes the next callers, from number `index` on, have sent it.
    func heard(from index: Int) async throws -> String {
        // The first line says that it is ready.
        try await program.output.first("a caller", from: index + 1) { $0.hasPrefix("heard") }
    }

    func end() async throws {
        program.signal(9)
        try await program.ended()
    }
}
