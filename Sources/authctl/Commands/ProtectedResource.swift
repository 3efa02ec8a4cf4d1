internal import AuthRefreshInterface
internal import Basics
internal import TextEncodings

/// What a protected resource says about itself (RFC 9728), for the settings of an account.
extension DiscoverResource.Reply {
    /// The issuer for an account: the only one, the one that the person named, or the one that the person chooses.
    ///
    /// - Throws: `usage` with all of them if nobody can be asked, or if the named one is none of them.
    func issuer(named name: String?) throws(Report) -> String {
        if let name, let known = issuers.first(where: { $0.isSameIssuer(as: name) }) { return known }
        let all = issuers.map(PlainText.line).joined(separator: ", ")
        guard name == nil else {
            throw .usage(
                "'\(PlainText.line(resource))' does not accept tokens of the issuer that '--issuer' names",
                hint: "it accepts those of: \(all)"
            )
        }
        guard issuers.count > 1 else { return issuers.first ?? "" }
        guard Question.canBeAsked else {
            throw .usage(
                "'\(PlainText.line(resource))' has several authorization servers, and '--issuer' is missing",
                hint: "name one of them with --issuer: \(all)"
            )
        }
        StandardError.show(Question.list(issuers, width: 1))
        while true {
            let answer = try Question.ask("Authorization server (number): ")
            if issuers.contains(answer) { return answer }
            if let chosen = Question.choice(answer, from: issuers) { return chosen }
        }
    }

    /// The scopes to ask for if the person named none; nil if the resource names none.
    ///
    /// - Throws: `usage` if there are more than an authorization request can name: many servers refuse URLs above 8 KiB,
    ///   and scopes grow there.
    func askedScopes() throws(Report) -> [String]? {
        guard let scopes, scopes.joined(separator: " ").utf8.count > 4096 else { return scopes }
        throw .usage(
            "'\(PlainText.line(resource))' names \(scopes.count) scopes, too many to ask for all",
            hint: "name those that you need with --scope"
        )
    }

    /// The account that programs can use for the resource: `name` if possible, else one that asks for the resource's
    /// tokens by itself.
    func fitting(_ accounts: [AccountSettings]) -> AccountSettings? {
        let fit = accounts.filter { account in
            issuers.contains { account.issuer?.isSameIssuer(as: $0) ?? false }
        }
        return fit.first { $0.refreshParameters?["resource"] == resource } ?? fit.first
    }

    /// The command by which programs get the account's token for the resource.
    func tokenCommand(of account: AccountSettings) -> Command {
        let isDefault = account.refreshParameters?["resource"] == resource
        return Command(words: ["token", account.name] + (isDefault ? [] : ["--resource", PlainText.line(resource)]))
    }

    /// What the resource accepts, in one line.
    var sentence: Hint {
        let servers = issuers.map { "'\(PlainText.line($0))'" }.joined(separator: " or ")
        let accepted: Hint = "'\(PlainText.line(resource))' accepts tokens of \(servers)"
        guard let scopes else { return accepted }
        return accepted + ", and names these scopes: \(PlainText.line(scopes.joined(separator: " ")))"
    }
}

extension String {
    /// The same issuer with a slash at its end, or without one. RFC 8414 §3.3 distinguishes the two, and libraries that
    /// normalize URLs do not (pydantic's, in the Model Context Protocol's SDK).
    var withOtherSlash: String { hasSuffix("/") ? String(dropLast()) : self + "/" }

    fileprivate func isSameIssuer(as other: String) -> Bool { self == other || withOtherSlash == other }
}

extension DaemonConnection {
    /// Makes the daemon read the metadata of a resource.
    mutating func discover(_ resource: DiscoverResource.Parameters) throws(Report) -> DiscoverResource.Reply {
        try ask(
            resource,
            patience: Self.refreshPatience,
            waitingFor: "the resource server\(resource.url.map { " at '\(PlainText.line($0))'" } ?? "")"
        )
    }
}
