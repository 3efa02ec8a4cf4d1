internal import Basics

/// The content of the user's copy of mutt_oauth2.py: its dictionaries of servers, and the command that decrypts.
struct MuttOAuth2Script: Sendable {
    /// The texts of each registration by name.
    var registrations: [String: [String: String]] = [:]
    /// The keys of each registration that Python computes. The value is the environment variable that it reads, if any.
    private(set) var computed: [String: [String: String?]] = [:]
    /// The words of `DECRYPTION_PIPE`.
    var decryption: [String] = []

    /// Reads the script.
    ///
    /// - Throws: `tooLarge`, `wrongFormat`.
    init(_ bytes: [UInt8], origin: String) throws(ProgramError) {
        let expected = "a copy of mutt_oauth2.py"
        let text = try SourceText.read(bytes, origin: origin, expected: expected)
        guard case .dictionary(let servers)? = PythonLiterals.value(after: ["registrations", "="], in: text) else {
            throw .wrongFormat(origin, expected: expected)
        }
        for (name, server) in servers {
            guard case .dictionary(let values) = server else { continue }
            registrations[name] = [:]
            for (key, value) in values {
                switch value {
                case .text(let text): registrations[name]?[key] = text
                case .expression(let variable): computed[name, default: [:]][key] = .some(variable)
                case .list, .dictionary: break
                }
            }
        }
        guard !registrations.isEmpty else { throw .wrongFormat(origin, expected: expected) }
        // Newer versions have it as the default of an option.
        let option = text.firstRange(of: "--decryption-pipe").map { String(text[$0.upperBound...]) } ?? ""
        decryption =
            Self.words(PythonLiterals.value(after: ["DECRYPTION_PIPE", "="], in: text))
            ?? Self.words(PythonLiterals.value(after: ["default", "="], in: option)) ?? []
    }

    private static func words(_ value: PythonLiterals.Value?) -> [String]? {
        switch value {
        case .list(let words): words
        case .text(let text): text.split(separator: " ").map(String.init)
        case .expression, .dictionary, nil: nil
        }
    }

    /// What the script says about a value that it does not contain; nil if it contains it, or has none.
    func note(_ key: String, of registration: String, words: String) -> String? {
        guard let variable = computed[registration]?[key] else { return nil }
        guard let variable else { return "The script computes the \(words), so it was not taken over." }
        return "The script reads the \(words) from the environment variable '\(variable)', so it was not taken over."
    }
}
