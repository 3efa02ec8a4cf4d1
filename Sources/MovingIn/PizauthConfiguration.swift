internal import AuthRefreshInterface
internal import CommandLineProgram
internal import RefreshCore

/// Reads the accounts in pizauth's configuration file. pizauth keeps its tokens only in memory, so only settings can be
/// taken over.
package enum PizauthConfiguration {
    private static let expected = "pizauth's configuration file"

    /// Reads the accounts.
    ///
    /// - Throws: `wrongFormat`, `tooLarge`, `tooManyAccounts`.
    package static func accounts(in bytes: [UInt8], origin: String) throws(ImportError) -> [MovableAccount] {
        guard bytes.count <= ImportLimit.sourceBytesMax else {
            throw .tooLarge(origin)
        }
        guard let text = String(validating: bytes, as: UTF8.self), let tokens = Token.all(in: text) else {
            throw .wrongFormat(origin, expected: expected)
        }
        var parser = Parser(tokens: tokens[...])
        guard let blocks = parser.accounts() else { throw .wrongFormat(origin, expected: expected) }
        guard blocks.count <= ImportLimit.movedAccountsMax else {
            throw .tooManyAccounts(origin)
        }
        return blocks.map { account($0, origin: origin) }
    }

    private static func account(_ block: Block, origin: String) -> MovableAccount {
        var settings = AccountSettings(name: SuggestedName.from(block.name, fallback: "pizauth"))
        settings.clientId = block.texts["client_id"]
        settings.scopes = block.lists["scopes"]
        var notes: [Hint] = ["pizauth stores no refresh tokens. Sign in once: \(Command("login", settings.name))"]
        if let endpoint = block.texts["token_uri"] ?? block.texts["auth_uri"],
            let note = KnownEndpoint.place(endpoint, in: &settings)
        {
            notes.append(Hint(note))
        }
        // The login hint is an option of `login`. The other fields are sent with each authorization request.
        let fields = block.maps["auth_uri_fields"] ?? [:]
        let parameters = fields.filter { $0.key != "login_hint" }
        if !parameters.isEmpty { settings.authorizationParameters = parameters }
        settings.username = block.texts["login_hint"] ?? fields["login_hint"]
        if let uri = block.texts["redirect_uri"] { settings.redirectUri = uri }
        return MovableAccount(
            source: .pizauth,
            settings: settings,
            clientSecret: block.texts["client_secret"].map { Secret($0) },
            origin: origin,
            notes: notes
        )
    }

    private struct Block {
        var name: String
        var texts: [String: String] = [:]
        var lists: [String: [String]] = [:]
        var maps: [String: [String: String]] = [:]
    }

    private enum Token: Equatable {
        case word(String)
        case text(String)
        /// One of `{ } [ ] = : , ;`.
        case sign(Character)

        /// Splits the text into tokens; nil if a text or a comment is not terminated.
        static func all(in text: String) -> [Token]? {
            var tokens: [Token] = []
            var rest = text[...]
            while let first = rest.first {
                if first.isWhitespace {
                    rest.removeFirst()
                } else if rest.hasPrefix("//") {
                    rest = rest.drop { !$0.isNewline }
                } else if rest.hasPrefix("/*") {
                    guard let end = rest.firstRange(of: "*/") else { return nil }
                    rest = rest[end.upperBound...]
                } else if first == "\"" {
                    guard let text = takeText(&rest) else { return nil }
                    tokens.append(.text(text))
                } else if "{}[]=:,;".contains(first) {
                    tokens.append(.sign(rest.removeFirst()))
                } else {
                    let word = rest.prefix { !$0.isWhitespace && !"{}[]=:,;\"/".contains($0) }
                    guard !word.isEmpty else { return nil }
                    tokens.append(.word(String(word)))
                    rest = rest.dropFirst(word.count)
                }
            }
            return tokens
        }

        private static func takeText(_ rest: inout Substring) -> String? {
            rest.removeFirst()
            var text = ""
            while let character = rest.popFirst() {
                switch character {
                case "\"": return text
                case "\\":
                    guard let escaped = rest.popFirst() else { return nil }
                    text.append(escaped)
                default: text.append(character)
                }
            }
            return nil
        }
    }

    private struct Parser {
        var tokens: ArraySlice<Token>

        /// The blocks `account "NAME" { … }`, without pizauth's own settings outside of them; nil if the file does not
        /// have this grammar.
        mutating func accounts() -> [Block]? {
            var blocks: [Block] = []
            while let token = tokens.popFirst() {
                guard case .word(let word) = token else { return nil }
                if word == "account" {
                    guard case .text(let name) = tokens.popFirst(), take("{") else { return nil }
                    var block = Block(name: name)
                    while !take("}") { guard field(&block) else { return nil } }
                    blocks.append(block)
                } else {
                    guard let end = tokens.firstIndex(of: .sign(";")) else { return nil }
                    tokens = tokens[(end + 1)...]
                }
            }
            return blocks
        }

        /// `name = value;`
        private mutating func field(_ block: inout Block) -> Bool {
            guard case .word(let name) = tokens.popFirst(), take("=") else { return false }
            switch tokens.popFirst() {
            case .text(let text): block.texts[name] = text
            // A duration, such as `refresh_retry = 40s`.
            case .word: break
            case .sign("["):
                guard let texts = texts() else { return false }
                block.lists[name] = texts
            case .sign("{"):
                guard let members = members() else { return false }
                block.maps[name] = members
            case .sign, nil: return false
            }
            return take(";")
        }

        private mutating func texts() -> [String]? {
            var texts: [String] = []
            while !take("]") {
                guard case .text(let text) = tokens.popFirst() else { return nil }
                texts.append(text)
                guard take(",") || tokens.first == .sign("]") else { return nil }
            }
            return texts
        }

        private mutating func members() -> [String: String]? {
            var members: [String: String] = [:]
            while !take("}") {
                guard case .text(let key) = tokens.popFirst(), take(":"), case .text(let value) = tokens.popFirst()
                else { return nil }
                members[key] = value
                guard take(",") || tokens.first == .sign("}") else { return nil }
            }
            return members
        }

        private mutating func take(_ sign: Character) -> Bool {
            guard tokens.first == .sign(sign) else { return false }
            tokens.removeFirst()
            return true
        }
    }
}
