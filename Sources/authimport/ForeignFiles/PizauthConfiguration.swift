internal import AuthRefreshInterface
internal import Basics
internal import RefreshCore

/// Reads the accounts in pizauth's configuration file. pizauth keeps its tokens only in memory, so only settings can be
/// taken over.
enum PizauthConfiguration {
    private static let expected = "pizauth's configuration file"

    /// Reads the accounts.
    ///
    /// - Throws: `wrongFormat`, `tooLarge`, `tooManyAccounts`.
    static func accounts(in bytes: [UInt8], origin: String) throws(ProgramError) -> FoundInFile {
        let text = try SourceText.read(bytes, origin: origin, expected: expected)
        var parser = Parser(tokens: Token.all(in: text)[...])
        guard let blocks = parser.accounts() else { throw .wrongFormat(origin, expected: expected) }
        guard blocks.count <= ImportLimit.movedAccountsMax else {
            throw .tooManyAccounts(origin)
        }
        return FoundInFile(reading: blocks) { block throws(ProgramError) in
            guard !block.isBroken else {
                throw .wrongFormat(origin, expected: "only settings in the account '\(block.name)'")
            }
            return account(block, origin: origin)
        }
    }

    private static func account(_ block: Block, origin: String) -> MovableAccount {
        var settings = AccountSettings(name: MovableAccount.name(from: block.name, fallback: "pizauth"))
        settings.clientId = block.texts["client_id"]
        settings.scopes = block.lists["scopes"]
        var notes: [Hint] = ["pizauth stores no refresh tokens. Sign in once: \(Command("login", settings.name))"]
        let authorization = block.texts["auth_uri"]
        if let endpoint = block.texts["token_uri"] ?? authorization,
            var server = NamedServer(tokenEndpoint: endpoint, authorizationEndpoint: authorization)
        {
            if block.texts["token_uri"] == nil { server.providerSettings?["token_endpoint"] = nil }
            server.place(in: &settings)
            notes += server.notes
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
        /// Whether a part of it cannot be read.
        var isBroken = false
    }

    private enum Token: Equatable {
        case word(String)
        case text(String)
        /// One of `{ } [ ] = : , ;`.
        case sign(Character)
        /// A text or a comment that does not end, or a character that means nothing.
        case unknown

        /// Splits the text into tokens.
        static func all(in text: String) -> [Token] {
            var tokens: [Token] = []
            var rest = text[...]
            while let first = rest.first {
                if first.isWhitespace {
                    rest.removeFirst()
                } else if rest.hasPrefix("//") {
                    rest = rest.drop { !$0.isNewline }
                } else if rest.hasPrefix("/*") {
                    guard let end = rest.firstRange(of: "*/") else { return tokens + [.unknown] }
                    rest = rest[end.upperBound...]
                } else if first == "\"" {
                    tokens.append(takeText(&rest).map { .text($0) } ?? .unknown)
                } else if "{}[]=:,;".contains(first) {
                    tokens.append(.sign(rest.removeFirst()))
                } else {
                    let word = rest.prefix { !$0.isWhitespace && !"{}[]=:,;\"/".contains($0) }
                    tokens.append(word.isEmpty ? .unknown : .word(String(word)))
                    rest = rest.dropFirst(max(1, word.count))
                }
            }
            return tokens
        }

        /// A text in quotes; nil if it does not end in its line.
        private static func takeText(_ rest: inout Substring) -> String? {
            rest.removeFirst()
            var text = ""
            while let character = rest.first, !character.isNewline {
                rest.removeFirst()
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
        /// have this grammar. After a broken block, the next one is read.
        mutating func accounts() -> [Block]? {
            var blocks: [Block] = []
            var isForeign = false
            while let token = tokens.popFirst() {
                if token == .word("account"), case .text(let name)? = tokens.first {
                    tokens.removeFirst()
                    var block = Block(name: name)
                    block.isBroken = !take("{")
                    while !block.isBroken, !take("}") { block.isBroken = isAtAccount || !field(&block) }
                    if block.isBroken { skipToNextAccount() }
                    blocks.append(block)
                } else if case .word = token, let end = tokens.firstIndex(of: .sign(";")) {
                    tokens = tokens[(end + 1)...]
                } else {
                    isForeign = true
                    skipToNextAccount()
                }
            }
            return blocks.isEmpty && isForeign ? nil : blocks
        }

        /// Whether a block begins here.
        private var isAtAccount: Bool {
            guard tokens.first == .word("account"), case .text? = tokens.dropFirst().first else { return false }
            return true
        }

        private mutating func skipToNextAccount() {
            while !tokens.isEmpty, !isAtAccount { tokens.removeFirst() }
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
            case .sign, .unknown, nil: return false
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
