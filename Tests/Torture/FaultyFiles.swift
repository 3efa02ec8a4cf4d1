internal import Foundation
internal import TestSupport

/// What a daemon's disk does to it, and when it is killed, by the calls with which it changes files (`Tests/CFaultyFiles`).
struct FaultyFiles: Sendable {
    enum Order: Sendable {
        /// Each of the calls fails with this `errno`.
        case refuse(Int32)
        /// The daemon is killed on entering the call of this number, from 1, after the order was given.
        case kill(at: Int)
    }

    private let file: String
    private var list: String { file + ".calls" }

    init(in folder: TemporaryFolder) {
        file = folder.path + "/order"
    }

    /// What the daemon is started with.
    ///
    /// - Parameter folder: that in which calls count.
    func environment(for folder: String) -> [String: String] {
        [
            "LD_PRELOAD": Program.products + "/libFaultyFiles.so", "FAULTY_FILES": folder, "FAULTY_FILES_ORDER": file,
        ]
    }

    func give(_ order: Order) throws {
        let text =
            switch order {
            case .refuse(let code): "errno \(code)"
            case .kill(let number): "kill \(number)"
            }
        // The daemon must not find half of it.
        try text.write(toFile: file, atomically: true, encoding: .utf8)
    }

    /// - Returns: the calls that were made or refused since the order was given, by their names.
    @discardableResult func withdraw() throws -> [Substring] {
        try FileManager.default.removeItem(atPath: file)
        guard let calls = try? String(contentsOfFile: list, encoding: .utf8) else { return [] }
        try FileManager.default.removeItem(atPath: list)
        return calls.split(separator: "\n")
    }
}
