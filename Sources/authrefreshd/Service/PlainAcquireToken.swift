internal import AccountStorage
internal import AuthRefreshInterface
internal import RefreshCore
internal import StrictJSON
internal import Varlink

/// The plainest call of `AcquireToken`, which mail clients make all day: it is answered on the socket's thread, straight from the
/// store. Any other call, and any other answer, is the coordinator's.
struct PlainAcquireToken {
    let account: String
    let minimumValidity: Duration?

    /// Nil if the call is anything else, or is not right.
    init?(_ call: VarlinkCall) {
        guard call.method == Method.acquireToken.rawValue, let parameters = call.parameters else { return nil }
        var account: String?
        var seconds: Int64?
        for (name, value) in parameters.fields {
            if name.spells("account") {
                guard account == nil, let text = value.string else { return nil }
                account = text
            } else if name.spells("minimumValiditySec") {
                guard seconds == nil, let number = value.numberText.flatMap({ Int64($0) }) else { return nil }
                seconds = number
            } else {
                return nil
            }
        }
        guard let account, seconds.map(AcquireToken.Parameters.isValid(minimumValiditySec:)) ?? true else { return nil }
        self.account = account
        minimumValidity = seconds.map { .seconds($0) }
    }

    /// The parameters of the reply in JSON; nil if the coordinator has to be asked.
    func answer(from tokens: TokenReader, at now: Moment) -> [UInt8]? {
        guard let held = tokens.token(of: account), held.times.suffices(for: minimumValidity, at: now) else {
            return nil
        }
        return held.reply(at: now)
    }
}

extension DatedToken {
    /// The parameters of `AcquireToken.Reply` in JSON, byte for byte as its encoder writes them; nil if it would write escapes.
    fileprivate func reply(at now: Moment) -> [UInt8]? {
        guard token.scheme.utf8.allSatisfy(Self.isPlain) else { return nil }
        return unsafe token.secret.withBytes { secret in
            guard unsafe secret.allSatisfy(Self.isPlain) else { return nil }
            var reply: [UInt8] = []
            reply.reserveCapacity(secret.count + token.scheme.utf8.count + 80)
            reply += #"{"accessToken":""#.utf8
            unsafe reply += secret
            reply += #"","expiresAtUSec":"#.utf8
            reply += String(times.expiresAt(at: now).microseconds).utf8
            reply += #","tokenType":""#.utf8
            reply += token.scheme.utf8
            reply += #""}"#.utf8
            return reply
        }
    }

    /// Whether it stands for itself in a JSON string (RFC 8259 §7).
    private static func isPlain(_ byte: UInt8) -> Bool {
        (0x20...0x7E).contains(byte) && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
    }
}

extension AcquireToken.Parameters {
    /// A year at most: no token lives longer.
    static func isValid(minimumValiditySec seconds: Int64) -> Bool {
        (0...31_557_600).contains(seconds)
    }
}
