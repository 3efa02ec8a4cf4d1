internal import Foundation

/// Where the programs of a show are.
struct Programs: Sendable {
    let daemon: String
    let authctl: String

    /// The folder of this program, in which the build leaves the others as well.
    static var ownFolder: String {
        let own =
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments[0]
        return URL(filePath: own).deletingLastPathComponent().path
    }

    /// - Throws: `noProgram`.
    init(folder: String) throws(DemoError) {
        let paths = ["authrefreshd", "authctl"].map { URL(filePath: folder).appending(path: $0).path }
        for path in paths where !FileManager.default.isExecutableFile(atPath: path) { throw .noProgram(path: path) }
        daemon = paths[0]
        authctl = paths[1]
    }
}
