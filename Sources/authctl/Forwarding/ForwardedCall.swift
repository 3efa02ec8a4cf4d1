internal import AuthRefreshInterface
internal import Basics
internal import TextEncodings

/// A call that may be passed to the daemon.
struct ForwardedCall: Equatable {
    let method: Method
    let account: String
    /// The parameters as received, except that they name the other machine and the account's identifier. They name
    /// `account` and no other account.
    let parameters: String

    /// The daemon's reply to this call, for the other machine, with a NUL.
    func reply(error: String?, parameters: String) -> String {
        guard let error else { return "{\"parameters\":\(parameters)}\0" }
        // The account was removed in the meantime. The daemon's error may suggest a similar account, which the other
        // machine must not learn about.
        guard error != NoSuchAccountError.name else { return Self.error(NoSuchAccountError(account: account)) }
        return Self.error(error, parameters)
    }

    fileprivate static func error(_ error: some InterfaceError) -> String {
        self.error(type(of: error).name, WireText.encode(error))
    }

    fileprivate static func error(_ name: String, _ parameters: String) -> String {
        "{\"error\":\(JSONText.quote(name)),\"parameters\":\(parameters)}\0"
    }
}

/// Decides what a forwarded socket does with a message.
///
/// Root on the other machine, or in a container, can send anything. So an accepted call is parsed completely, and the daemon gets a newly
/// written one.
struct ForwardedCallFilter {
    enum Verdict: Equatable {
        case pass(ForwardedCall)
        /// Refuses the message.
        ///
        /// - Parameter endsConnection: whether later messages cannot be understood.
        case refuse(reply: String, endsConnection: Bool)
    }

    /// The other machine, as the person named it, or the socket on this one.
    private let host: String
    /// The identifiers of the accounts, by the bytes of their names, because Swift compares strings by Unicode equivalence
    /// (a Kelvin sign equals a K).
    private let accounts: [[UInt8]: String?]

    /// - Parameters:
    ///   - accounts: those that the person named, with their identifiers, so that no other account that gets the name
    ///     later is forwarded; nil if an older daemon does not tell.
    ///   - host: who is at the other end, as `AcquireToken` names it.
    init(accounts: [(name: String, id: String?)], host: String) {
        self.host = host
        self.accounts = Dictionary(accounts.map { (Array($0.name.utf8), $0.id) }) { first, _ in first }
    }

    /// Checks a message.
    ///
    /// - Parameter message: without its NUL.
    func judge(_ message: [UInt8]) -> Verdict {
        // The same limits as the daemon's for a call of this length.
        guard let document = JSONValue(message[...], nestingMax: 32, valuesMax: 4096, reading: .strictWhenRead),
            let envelope = Self.members(of: document)
        else { return Self.broken("message") }
        guard let name = envelope["method"]?.string else { return Self.broken("method") }
        for flag in ["more", "oneway", "upgrade"] {
            guard let value = envelope[flag], !value.isNull else { continue }
            guard value.bool == false else { return Self.broken(flag) }
        }
        guard let method = Method(rawValue: name), method.rules.isForwarded else { return Self.notForwarded }
        guard let value = envelope["parameters"], let members = Self.members(of: value) else {
            return Self.invalid("parameters")
        }
        guard let name = members["account"]?.string else { return Self.invalid("account") }
        guard let id = accounts[Array(name.utf8)] else {
            return .refuse(reply: ForwardedCall.error(NoSuchAccountError(account: name)), endsConnection: false)
        }
        guard let parameters = parameters(value, for: method, id) else { return Self.invalid("parameters") }
        return .pass(ForwardedCall(method: method, account: name, parameters: parameters))
    }

    /// The parameters of a call, with the other machine and the account's identifier in place of whatever they name. So
    /// one machine cannot use what the person allowed to another, or to this one, nor another account that has the name by
    /// now.
    private func parameters(_ value: JSONValue, for method: Method, _ id: String?) -> String? {
        let id = ("accountId", id.map(JSONText.quote))
        let ours: [(String, String?)] = method == .acquireToken ? [("host", JSONText.quote(host)), id] : [id]
        var object = JSONObjectText()
        for (name, value) in value.members ?? [] where !ours.contains(where: { name.utf8.elementsEqual($0.0.utf8) }) {
            guard let text = String(validating: value.whole, as: UTF8.self) else { return nil }
            object.add(name, text)
        }
        for (name, text) in ours { object.add(name, text) }
        return object.text
    }

    /// The verdict on a call longer than `forwardedCallBytesMax`.
    static var tooLong: Verdict { broken("message") }

    /// The members by name; nil if it is not an object, or if a name occurs twice, because readers would disagree on
    /// which one counts.
    private static func members(of value: JSONValue) -> [String: JSONValue]? {
        guard let members = value.members else { return nil }
        var found: [String: JSONValue] = [:]
        for (name, value) in members {
            guard found.updateValue(value, forKey: name) == nil else { return nil }
        }
        return found
    }

    private static func invalid(_ parameter: String, endsConnection: Bool = false) -> Verdict {
        let parameters = JSONText.object([("parameter", JSONText.quote(parameter))])
        let reply = ForwardedCall.error("org.varlink.service.InvalidParameter", parameters)
        return .refuse(reply: reply, endsConnection: endsConnection)
    }

    private static func broken(_ part: String) -> Verdict { invalid(part, endsConnection: true) }

    /// The verdict on any other method, without checking the rest of the call.
    private static var notForwarded: Verdict {
        let error = PermissionDeniedError(
            reason: "this socket is for the tokens of some accounts and nothing else",
            hint: "run the command where '\(Command("forward"))' runs"
        )
        return .refuse(reply: ForwardedCall.error(error), endsConnection: false)
    }
}
