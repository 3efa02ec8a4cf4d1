internal import CommandLineProgram
internal import MovingIn

/// What `authctl import` hands over: it has checked the arguments, and each option has its value in the next word.
struct ImportRequest {
    var socket = ""
    /// The name by which a shell finds authctl.
    var called = CalledName.usual
    var isJSON = false
    var isDryRun = false
    var takesAll = false
    /// Nil: every program.
    var program: SourceProgram?
    /// A file to read instead of those that the program has by default.
    var file: String?
    /// The name for the only account that is taken.
    var newName: String?
    /// The file with the password that oidc-gen needs; nil: oidc-gen asks on the terminal.
    var passwordFile: String?
    /// Empty: each is asked for.
    var names: [String] = []

    /// - Throws: `usage`.
    init(_ arguments: [String]) throws(ImportError) {
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
        guard !socket.isEmpty else { throw .usage }
    }

    private mutating func take(_ option: String, value: String?) throws(ImportError) {
        guard let value else { throw .usage }
        switch option {
        case "--socket": socket = value
        case "--called": called = CalledName(name: value)
        case "--file": file = value
        case "--as": newName = value
        case "--password-file": passwordFile = value
        case "--from":
            guard let named = SourceProgram(rawValue: value) else { throw .usage }
            program = named
        default: throw .usage
        }
    }
}
