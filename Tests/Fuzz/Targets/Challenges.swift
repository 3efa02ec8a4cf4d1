@testable internal import OAuthMessages
internal import RefreshCore

/// The `WWW-Authenticate` header of a server that refused a token.
enum Challenges {
    static func run(_ input: [UInt8]) {
        let field = String(decoding: input, as: UTF8.self)
        guard let challenges = AuthenticationChallenge.all(in: field) else { return }
        require(!challenges.isEmpty, "a field that is read holds a challenge")
        for challenge in challenges {
            require(
                !challenge.scheme.isEmpty && challenge.scheme == challenge.scheme.lowercased(),
                "a scheme is in lower case"
            )
            require(challenge.parameters.keys.allSatisfy { $0 == $0.lowercased() }, "a name is in lower case")
        }
        let written = challenges.map(text).joined(separator: ", ")
        if written.utf8.count <= AuthenticationChallenge.fieldLimit {
            require(AuthenticationChallenge.all(in: written) == challenges, "challenges read as they are written")
        }
        checkDemand(challenges)
    }

    private static func text(_ challenge: AuthenticationChallenge) -> String {
        let parameters = challenge.parameters.sorted { $0.key < $1.key }.map { name, value in
            "\(name)=\"\(escaped(value))\""
        }
        return challenge.scheme + (parameters.isEmpty ? "" : " " + parameters.joined(separator: ", "))
    }

    /// Compares scalars, because a letter with a combining mark is another character.
    private static func escaped(_ value: String) -> String {
        var scalars = String.UnicodeScalarView()
        for scalar in value.unicodeScalars {
            if scalar == "\\" || scalar == "\"" { scalars.append("\\") }
            scalars.append(scalar)
        }
        return String(scalars)
    }

    private static func checkDemand(_ challenges: [AuthenticationChallenge]) {
        guard let demand = TokenDemand(challenges) else { return }
        require(challenges.contains { ["bearer", "dpop"].contains($0.scheme) }, "what is wanted is wanted of a token")
        switch demand.kind {
        case .claims(let claims):
            require(JSONTree.object(in: Array(claims.utf8)) != nil, "claims are a JSON object")
        case .authentication(_, let maxAge):
            require(maxAge.map { $0 >= .zero } ?? true, "an age is none before birth")
        case .scopes(let scopes): require(!scopes.isEmpty && !scopes.contains(""), "scopes are words")
        case .anotherToken, .nothing: break
        }
    }
}
