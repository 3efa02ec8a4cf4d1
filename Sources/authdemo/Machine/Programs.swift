internal import DemoIssuer
internal import Foundation

/// The paths of a show's programs.
struct Programs: Sendable {
    let daemon: String
    let authctl: String

    /// The folder of this program, where the build also puts the others. It is in the form that the user typed, because
    /// the viewer is told to run a command from there.
    static var ownFolder: String {
        let name = CommandLine.arguments[0]
        guard !name.contains("/") else {
            return URL(filePath: name).standardizedFileURL.deletingLastPathComponent().path
        }
        let path = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? name
        return URL(filePath: path).deletingLastPathComponent().path
    }

    /// Checks the programs.
    ///
    /// - Throws: if one is missing.
    init(folder: String) throws(DemoError) {
        let base = URL(filePath: folder).standardizedFileURL
        let paths = ["authrefreshd", "authctl"].map { base.appending(path: $0).path }
        for path in paths where !FileManager.default.isExecutableFile(atPath: path) {
            throw DemoError("there is no program '\(path)'")
        }
        daemon = paths[0]
        authctl = paths[1]
    }
}
