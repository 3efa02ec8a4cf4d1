internal import FoundationEssentials
internal import Glibc

/// Creates manual pages from a program's own help texts.
///
///     PROGRAM --experimental-dump-help | authmanual FOLDER VERSION [CONFIGURATION…]
///
/// It writes a page for the program and for each of its commands. With sample configurations, it also writes a page for
/// each of those files. The pages have the date of `SOURCE_DATE_EPOCH`, so that the same source gives the same pages;
/// without it, today's.
@main enum AuthManual {
    static func main() {
        let arguments = CommandLine.arguments.dropFirst()
        guard let folder = arguments.first, let version = arguments.dropFirst().first else {
            return end(64, "usage: PROGRAM --experimental-dump-help | authmanual FOLDER VERSION [CONFIGURATION…]")
        }
        do {
            let dump = try JSONDecoder().decode(HelpDump.self, from: standardInput())
            let edition = ManualPage.Edition(version: version, date: day)
            var pages = pages(of: dump.command, edition)
            pages += try arguments.dropFirst(2).map { try configurationPage($0, edition) }
            for page in pages {
                try Data(page.source.utf8).write(to: URL(filePath: "\(folder)/\(page.fileName)"))
            }
        } catch {
            end(1, "authmanual: error: cannot make the pages: \(error)")
        }
    }

    /// The page of the command and the pages of its subcommands.
    static func pages(of command: HelpDump.Command, _ edition: ManualPage.Edition) -> [ManualPage] {
        let page = CommandPage(
            command: command,
            edition: edition,
            related: [("authctl", 1), ("authrefreshd", 1), ("authrefreshd.yaml", 5), ("provider-profile.yaml", 5)]
        ).page
        return [page] + command.pages.flatMap { pages(of: $0, edition) }
    }

    private static func configurationPage(_ path: String, _ edition: ManualPage.Edition) throws -> ManualPage {
        let sample = String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self)
        let name = String(path[(path.lastIndex(of: "/").map(path.index(after:)) ?? path.startIndex)...])
        return ConfigurationPage(name: name, sample: sample, edition: edition).page
    }

    /// The date in the form of mdoc, in any locale: `November 21, 2026`.
    private static var day: String {
        let months = [
            "January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
            "November", "December",
        ]
        var seconds = ProcessInfo.processInfo.environment["SOURCE_DATE_EPOCH"].flatMap { time_t($0) } ?? time(nil)
        var fields = unsafe tm()
        unsafe gmtime_r(&seconds, &fields)
        return unsafe "\(months[Int(fields.tm_mon)]) \(fields.tm_mday), \(fields.tm_year + 1900)"
    }

    private static func standardInput() -> Data {
        var bytes = Data()
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while case let count = unsafe read(STDIN_FILENO, &chunk, chunk.count), count > 0 { bytes += chunk[..<count] }
        return bytes
    }

    private static func end(_ status: Int32, _ message: String) {
        let line = Array((message + "\n").utf8)
        _ = unsafe write(STDERR_FILENO, line, line.count)
        exit(status)
    }
}
