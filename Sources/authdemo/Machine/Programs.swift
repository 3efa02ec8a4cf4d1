internal import Foundation

/// Where the programs of a show are.
struct Programs: Sendable {
    let daemon: String
    let authctl: String

    /// The folder of this program, in which the build leaves the others as well; as the caller wrote it, because the viewer
    /// is told to run something from there.
    static var ownFolder: String {
        let name = CommandLine.arguments[0]
        guard !name.contains("/") else {
            return URL(filePath: name).standardizedFileURL.deletingLastPathComponent().path
        }
        let path = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? name
        return URL(filePath: path).deletingLastPathComponent().path
    }

    /// - Throws: `noProgram`.
    init(folder: String) throws(DemoError) {
        let base = URL(filePath: folder).standardizedFileURL
        let paths = ["authrefreshd", "authctl"].map { base.appending(path: $0).path }
        for path in paths where !FileManager.default.isExecutableFile(atPath: path) { throw .noProgram(path: path) }
        daemon = paths[0]
        authctl = paths[1]
    }
}
