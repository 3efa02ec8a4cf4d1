/// The browser for sign-ins: which texts may name one, by where they come from.
///
/// A program that reaches only the socket may be confined, and the browser is started outside of its sandbox. So what
/// comes over the wire names a browser, but never a path or arguments. Those come from the person's own files.
package enum LoginBrowser {
    /// What an account's `loginBrowser` is.
    package static let nameRule = "the name of a browser or of a desktop entry, without a path and arguments"
    /// What `login_browser` in the configuration is.
    package static let commandRule = "a program's name or absolute path, perhaps with arguments, on the key's own line"
    /// The most bytes of a command, which is the limit of a path (PATH_MAX of limits.h).
    private static let longestCommand = 4_096
    /// The most bytes of a name, which is the limit of a file name (NAME_MAX of limits.h).
    private static let longestName = 255

    /// Whether `text` names a browser or a desktop entry: `firefox`, `org.mozilla.firefox.desktop`.
    ///
    /// Whether it exists is known only on the machine of the person who signs in.
    package static func isName(_ text: String) -> Bool {
        let isAllowed = { (byte: UInt8) in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
            case UInt8(ascii: "0")...UInt8(ascii: "9"): true
            default: "._+-".utf8.contains(byte)
            }
        }
        guard let first = text.utf8.first, "._+-".utf8.contains(first) == false else { return false }
        return text.utf8.count <= longestName && text.utf8.allSatisfy(isAllowed)
    }

    /// Whether `text` is a command for the configuration. A relative path is refused, because it would mean a different
    /// program in each folder.
    package static func isCommand(_ text: String) -> Bool {
        guard let program = text.split(separator: " ").first, text.utf8.count <= longestCommand else { return false }
        let isPrintable = text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F }
        // A colon separates commands, as in the variable BROWSER.
        return isPrintable && !text.contains(":") && (program.hasPrefix("/") || !program.contains("/"))
    }

    /// The key in the configuration.
    private static let key = "login_browser:"

    /// The command in the text of the configuration; nil if there is none.
    ///
    /// `authctl` reads the person's file itself, so that no command comes over the wire. It has no YAML parser, so the
    /// daemon accepts the file only if its parser finds the same.
    package static func command(inConfiguration yaml: String) -> String? {
        let lines = yaml.split { $0 == "\n" || $0 == "\r\n" }
        guard let line = lines.last(where: { $0.hasPrefix(key) }) else { return nil }
        let value = line.dropFirst(key.count).drop { $0 == " " }
        let text: Substring
        if let quote = value.first, quote == "\"" || quote == "'" {
            text = value.dropFirst().prefix { $0 != quote }
        } else {
            text = value.firstRange(of: " #").map { value[..<$0.lowerBound] } ?? value
        }
        let command = String(text.reversed().drop { $0 == " " }.reversed())
        return isCommand(command) ? command : nil
    }
}

/// The kinds of window for sign-ins that an account can name. The raw values are used on the wire.
package enum LoginWindow: String, CaseIterable, Sendable {
    /// A private window.
    case `private`
    /// A private window with a profile of its own.
    case temporaryProfile = "temporary-profile"
}
