internal import AuthRefreshInterface
internal import StrictJSON

/// What the other machine can make `authctl forward` hold.
struct ForwardingLimits {
    /// Bytes of one call. The longest that is of any use names a token set (1 KiB) or hands on a server's challenge.
    let forwardedCallBytesMax = 65_536
    /// Bytes of the daemon's reply, for which a token of 64 KiB leaves room.
    let forwardedReplyBytesMax = 1_048_576
    /// Programs of the other machine that are connected at once. The daemon has one connection for each that waits for a token, of the 480
    /// that it has for its user.
    let forwardedClientsMax = 64
}

/// A call that may go to the daemon.
struct ForwardedCall: Equatable {
    let method: Method
    let account: String
    /// The object as it came; it names `account` and no other.
    let parameters: String
}

/// Decides what a forwarded socket does with what is sent to it.
///
/// Whoever is root on the other machine can send anything. So what passes is read whole, and the daemon gets a call that is written anew.
struct ForwardedCallFilter {
    enum Verdict: Equatable {
        case pass(ForwardedCall)
        /// - Parameter endsConnection: whether nothing that follows can be understood.
        case refuse(reply: String, endsConnection: Bool)
    }

    static let methods: [Method] = [.acquireToken, .reportRejected]

    /// As bytes: to Swift, two strings are the same if Unicode says that they look alike (a Kelvin sign and a K).
    private let accounts: Set<[UInt8]>

    init(accounts: [String]) {
        self.accounts = Set(accounts.map { Array($0.utf8) })
    }

    /// - Parameter message: without its NUL.
    func judge(_ message: [UInt8]) -> Verdict {
        // As deep and as many as the daemon takes of a call of this length.
        guard let document = try? JSONDocument(message, nestingMax: 32, valuesMax: 4096),
            let envelope = Self.members(of: document.root)
        else { return Self.broken("message") }
        guard let name = envelope["method"]?.string else { return Self.broken("method") }
        for flag in ["more", "oneway", "upgrade"] {
            guard let value = envelope[flag], !value.isNull else { continue }
            guard value.bool == false else { return Self.broken(flag) }
        }
        guard let method = Self.methods.first(where: { $0.rawValue == name }) else { return .notForwarded }
        guard let value = envelope["parameters"], let members = Self.members(of: value),
            let parameters = String(validating: value.raw, as: UTF8.self)
        else { return Self.invalid("parameters") }
        guard let account = members["account"]?.string else { return Self.invalid("account") }
        guard accounts.contains(Array(account.utf8)) else { return .unknown(account) }
        return .pass(ForwardedCall(method: method, account: account, parameters: parameters))
    }

    /// A call that is longer than `forwardedCallBytesMax`.
    static var tooLong: Verdict { broken("message") }

    /// By name; nil if it is no object, or a name comes twice: every reader would say otherwise which of the two was meant.
    private static func members(of value: JSONValue) -> [String: JSONValue]? {
        guard let members = value.members else { return nil }
        var found: [String: JSONValue] = [:]
        for (name, value) in members {
            guard found.updateValue(value, forKey: name) == nil else { return nil }
        }
        return found
    }

    private static func invalid(_ parameter: String) -> Verdict {
        let parameters = JSONText.object([("parameter", JSONText.quote(parameter))])
        let reply = ForwardedReply.error("org.varlink.service.InvalidParameter", parameters)
        return .refuse(reply: reply, endsConnection: false)
    }

    private static func broken(_ part: String) -> Verdict {
        guard case .refuse(let reply, _) = invalid(part) else { return .notForwarded }
        return .refuse(reply: reply, endsConnection: true)
    }
}

extension ForwardedCallFilter.Verdict {
    /// Any other method; nothing of the call is looked at.
    fileprivate static var notForwarded: Self {
        let error = PermissionDeniedError(
            reason: "this socket is forwarded from another machine, for the tokens of some accounts and nothing else",
            hint: "run the command on the machine where 'authctl forward' runs"
        )
        let reply = ForwardedReply.error(PermissionDeniedError.name, WireText.encode(error))
        return .refuse(reply: reply, endsConnection: false)
    }

    /// The same for accounts that are not forwarded and for those that do not exist.
    fileprivate static func unknown(_ account: String) -> Self {
        .refuse(reply: ForwardedReply.noSuchAccount(account), endsConnection: false)
    }
}

/// Replies as they go to the other machine, each with its NUL.
enum ForwardedReply {
    /// The daemon's reply to a call that has passed.
    static func text(error: String?, parameters: String, to call: ForwardedCall) -> String {
        guard let error else { return "{\"parameters\":\(parameters)}\0" }
        // The account was removed meanwhile. The daemon names the one that is spelled nearly so, which is no business of the other machine.
        guard error != NoSuchAccountError.name else { return noSuchAccount(call.account) }
        return self.error(error, parameters)
    }

    static func error(_ name: String, _ parameters: String) -> String {
        "{\"error\":\(JSONText.quote(name)),\"parameters\":\(parameters)}\0"
    }

    static func noSuchAccount(_ account: String) -> String {
        error(NoSuchAccountError.name, WireText.encode(NoSuchAccountError(account: account)))
    }
}
