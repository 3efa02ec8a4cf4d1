/// What `PROGRAM --experimental-dump-help` prints: its commands as its argument parser knows them.
struct HelpDump: Decodable {
    let command: Command

    /// A command with all below it.
    struct Command: Decodable {
        let commandName: String
        let abstract: String
        /// Paragraphs, with a blank line between them. Absent: none.
        let discussion: String?
        let superCommands: [String]?
        let subcommands: [Command]?
        let arguments: [Argument]?
        let shouldDisplay: Bool
    }

    /// An option, a flag or an operand.
    struct Argument: Decodable {
        enum Kind: String, Decodable {
            case positional, option, flag
        }

        struct Name: Decodable {
            enum Kind: String, Decodable {
                case long, short
                case longWithSingleDash
            }

            let kind: Kind
            let name: String
        }

        let kind: Kind
        let abstract: String?
        /// Absent: an operand.
        let names: [Name]?
        let valueName: String?
        /// What the value may be. Absent: not limited.
        let allValues: [String]?
        /// Absent: there is none.
        let defaultValue: String?
        let isOptional: Bool
        let isRepeating: Bool
        let shouldDisplay: Bool
    }
}

extension HelpDump.Command {
    /// `authctl account add`.
    var words: [String] { (superCommands ?? []) + [commandName] }

    /// The commands below it that have something of their own to say.
    var pages: [HelpDump.Command] { (subcommands ?? []).filter { $0.shouldDisplay && $0.commandName != "help" } }

    /// What a page tells of; the help option is everywhere the same.
    var shown: [HelpDump.Argument] { (arguments ?? []).filter(\.shouldDisplay) }
}
