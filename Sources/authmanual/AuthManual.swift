internal import FoundationEssentials
internal import Glibc

/// Makes manual pages out of a program's own help texts.
///
///     PROGRAM --experimental-dump-help | authmanual FOLDER VERSION [CONFIGURATION…]
///
/// writes a page for the program and one for each of its commands; with sample configurations one for each of those files too.
/// They carry the day of `SOURCE_DATE_EPOCH`, so that the same source makes the same pages; without it, today.
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

    /// The command's page and those of all below it.
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

    /// As mdoc wants it, whatever the locale: `November 21, 2026`.
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
