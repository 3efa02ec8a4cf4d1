import TestSupport
import Testing

extension DaemonStage {
    /// Another program writes to the store, whose daemon has ended.
    func change(store statement: String) async throws {
        let script = """
            import sqlite3, sys
            database = sqlite3.connect(sys.argv[1])
            database.execute(sys.argv[2])
            database.commit()
            """
        let python = try Program("/usr/bin/python3", ["-c", script, store, statement], environment: environment)
        let end = try await python.ended()
        try #require(end == .exited(0), "\(python.errorText)")
    }
}
