internal import AuthRefreshInterface
internal import Basics
internal import TextEncodings

/// A secret as people copy it: from a shell script, a program's settings, or an address.
struct PastedText {
    private let text: String
    private let purpose: SecretPurpose

    init(_ text: String, purpose: SecretPurpose) {
        self.text = text
        self.purpose = purpose
    }

    /// The refresh token in the text of a file.
    static func refreshToken(_ text: String) throws(Report) -> SecretText {
        try PastedText(text, purpose: .refreshToken).secret()
    }

    /// The secret itself.
    ///
    /// If there is more around it, a person is asked. Without a terminal that is an error, because a server only says
    /// that the secret is wrong.
    ///
    /// - Throws: what is around it, if nobody can be asked; `cancelled`.
    func secret() throws(Report) -> SecretText {
        let (bare, others) = bare
        guard !others.isEmpty else { return SecretText(text) }
        let what = "the \(purpose.rawValue) has \(others.joined(separator: " and "))"
        guard Question.canBeAsked else {
            throw .unusableSecret(what, hint: "the file must contain only the \(purpose.rawValue)\(asItIs)")
        }
        StandardError.warn(Hint(what))
        return SecretText(
            try Question.confirm("Use only the \(purpose.rawValue) itself?", byDefault: true) ? bare : text
        )
    }

    /// In JSON, a value is taken as it is.
    private var asItIs: String {
        switch purpose {
        case .refreshToken: "; if all of it belongs to the token: {\"refresh_token\": \"...\"}"
        case .clientSecret: "; if all of it belongs to the secret: {\"client_secret\": \"...\"}"
        case .clientKey, .initialAccessToken, .document, .redirect, .page, .headers: ""
        }
    }

    /// What is probably the secret, and what is around it.
    private var bare: (text: String, others: [String]) {
        var (rest, others) = (text, [String]())
        // `export NAME = "value"` has all three.
        while let (inner, what) = Self.withoutBlanks(rest) ?? Self.withoutInvisible(rest) ?? Self.withoutName(rest)
            ?? Self.withoutQuotes(rest)
        {
            rest = inner
            if !others.contains(what) { others.append(what) }
        }
        if let (inner, what) = Self.decoded(rest) { (rest, others) = (inner, others + [what]) }
        return (rest, others)
    }

    private static func withoutBlanks(_ text: String) -> (String, String)? {
        let inner = text.drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed()
        return inner.count == text.count || inner.isEmpty ? nil : (String(inner), "blanks around it")
    }

    /// What a page or a chat puts between words, such as a space without a width.
    private static func withoutInvisible(_ text: String) -> (String, String)? {
        let inner = text.unicodeScalars.filter { $0.properties.generalCategory != .format }
        return inner.count == text.unicodeScalars.count || inner.isEmpty
            ? nil : (String(String.UnicodeScalarView(inner)), "invisible characters in it")
    }

    private static func withoutQuotes(_ text: String) -> (String, String)? {
        let pairs: [Character: Character] = ["\"": "\"", "'": "'", "`": "`", "“": "”", "‘": "’", "«": "»"]
        // A line of JSON ends with a comma.
        let line = text.hasSuffix(",") || text.hasSuffix(";") ? text.dropLast() : text[...]
        guard line.count > 2, let first = line.first, line.last == pairs[first] else { return nil }
        return (String(line.dropFirst().dropLast()), "quotes around it")
    }

    /// `client_secret: value`, `CLIENT_SECRET=value`. A secret may have these signs too, so the name has to be one.
    private static func withoutName(_ text: String) -> (String, String)? {
        if let match = text.wholeMatch(of: /(?i:(?:authorization:\s*)?bearer)\s+(\S+)/) {
            return (String(match.1), "a name before it")
        }
        let assignment = /(?:export\s+)?["']?([A-Za-z_][A-Za-z0-9_.\-]*)["']?\s*[=:]\s*(\S.*)/
        guard let match = text.wholeMatch(of: assignment) else { return nil }
        let name = match.1.lowercased()
        let isName =
            ["secret", "token", "password", "client"].contains(where: name.contains)
            || match.1.contains("_") && match.1 == match.1.uppercased()
        return isName ? (String(match.2), "a name before it") : nil
    }

    /// `1%2F%2Fabc`, from an address or a form.
    private static func decoded(_ text: String) -> (String, String)? {
        guard text.wholeMatch(of: /[A-Za-z0-9\-._~%+*]+/) != nil,
            text.firstMatch(of: /%[0-9A-Fa-f]{2}/) != nil,
            let inner = FormEncoding.decode(text.utf8), inner != text
        else { return nil }
        return (inner, "URL encoding (%XX)")
    }
}
