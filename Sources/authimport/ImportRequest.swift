internal import AuthRefreshInterface
internal import Basics

/// The arguments from `authctl import` or `authctl apply`, which has checked them. The value of each option is the next word.
struct ImportRequest {
    var socket = ""
    /// The name by which a shell finds authctl.
    var called = InvokedAs.usual
    var isJSON = false
    var isDryRun = false
    var takesAll = false
    /// The program; nil for all.
    var program: SourceProgram?
    /// A file to read instead of the program's default files.
    var file: String?
    /// The new name, if a single account is imported.
    var newName: String?
    /// A file to print as JSON, for `authctl apply`; nil to import accounts.
    var settingsFile: String?
    /// The file with oidc-gen's password; nil if oidc-gen asks on the terminal.
    var passwordFile: String?
    /// The accounts to import; if empty, the user is asked about each.
    var names: [String] = []

    private static let startedByHand = ProgramError(
        .usage,
        "authimport cannot be used alone: authctl runs it",
        hint: Hint(Command("import", "--help"))
    )

    /// Reads the arguments.
    init(_ arguments: [String]) throws(ProgramError) {
        var words = arguments[...]
        while let word = words.popFirst() {
            switch word {
            case "--json": isJSON = true
            case "--dry-run": isDryRun = true
            case "--all": takesAll = true
            case "--": (names, words) = (Array(words), [])
            default: try take(word, value: words.popFirst())
            }
        }
        guard !socket.isEmpty || settingsFile != nil else { throw Self.startedByHand }
        // A file whose program is not named has to say everything itself.
        if file != nil { program = program ?? .file }
    }

    private mutating func take(_ option: String, value: String?) throws(ProgramError) {
        guard let value else { throw Self.startedByHand }
        switch option {
        case "--socket": socket = value
        case "--called": called = InvokedAs(name: value)
        case "--file": file = value
        case "--settings": settingsFile = value
        case "--as": newName = value
        case "--password-file": passwordFile = value
        case "--from":
            guard let named = SourceProgram(rawValue: value) else { throw Self.startedByHand }
            program = named
        default: throw Self.startedByHand
        }
    }
}
