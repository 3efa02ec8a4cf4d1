import Foundation

/// Makes the calls fail with which a daemon changes files, or kills the daemon at one of them (`Tests/Support/CFaultyFiles`).
package struct FaultyFiles: Sendable {
    package enum Order: Sendable {
        /// Each call fails with this `errno`.
        case refuse(Int32)
        /// The daemon is killed before the call with this number, counted from 1 since the order.
        case kill(at: Int)
    }

    private let file: String
    private var list: String { file + ".calls" }

    package init(in folder: TemporaryFolder) {
        file = folder.path + "/order"
    }

    /// The environment for the daemon.
    ///
    /// - Parameter folder: the folder in which calls count.
    package func environment(for folder: String) -> [String: String] {
        [
            "LD_PRELOAD": Program.products + "/libFaultyFiles.so", "FAULTY_FILES": folder, "FAULTY_FILES_ORDER": file,
        ]
    }

    package func give(_ order: Order) throws {
        let text =
            switch order {
            case .refuse(let code): "errno \(code)"
            case .kill(let number): "kill \(number)"
            }
        // Written atomically, because the daemon must not read half of it.
        try text.write(toFile: file, atomically: true, encoding: .utf8)
    }

    /// - Returns: the names of the calls that were made or refused since the order.
    @discardableResult package func withdraw() throws -> [Substring] {
        try FileManager.default.removeItem(atPath: file)
        guard let calls = try? String(contentsOfFile: list, encoding: .utf8) else { return [] }
        try FileManager.default.removeItem(atPath: list)
        return calls.split(separator: "\n")
    }
}
