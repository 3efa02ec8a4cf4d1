/// The output of `PROGRAM --experimental-dump-help`: the commands as the argument parser knows them.
struct HelpDump: Decodable {
    let command: Command

    /// A command with its subcommands.
    struct Command: Decodable {
        let commandName: String
        let abstract: String
        /// Paragraphs separated by blank lines; nil for none.
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
        /// The names; nil for an operand.
        let names: [Name]?
        let valueName: String?
        /// The allowed values; nil for any.
        let allValues: [String]?
        /// The default value; nil for none.
        let defaultValue: String?
        let isOptional: Bool
        let isRepeating: Bool
        let shouldDisplay: Bool
    }
}

extension HelpDump.Command {
    /// The command's full name: `authctl account add`.
    var words: [String] { (superCommands ?? []) + [commandName] }

    /// The subcommands with text of their own.
    var pages: [HelpDump.Command] { (subcommands ?? []).filter { $0.shouldDisplay && $0.commandName != "help" } }

    /// The arguments on the page. The help option is left out, because it is always the same.
    var shown: [HelpDump.Argument] { (arguments ?? []).filter(\.shouldDisplay) }
}
