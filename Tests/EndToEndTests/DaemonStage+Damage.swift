import TestSupport
import Testing

extension DaemonStage {
    /// Another program writes to the store, whose daemon has ended.
    ///
    /// It has to know the function that the store's triggers call (`TokenLookup.place`).
    func change(store statement: String) async throws {
        let script = """
            import sqlite3, sys
            def place(name):
                hash = 0xcbf29ce484222325
                for byte in name.encode(): hash = (hash ^ byte) * 0x100000001b3 % 2**64
                return (hash ^ hash >> 48) % 2**48
            database = sqlite3.connect(sys.argv[1])
            database.create_function("name_place", 1, place)
            database.execute(sys.argv[2])
            database.commit()
            """
        let python = try Program("/usr/bin/python3", ["-c", script, store, statement], environment: environment)
        let end = try await python.ended()
        try #require(end == .exited(0), "\(python.errorText)")
    }
}
