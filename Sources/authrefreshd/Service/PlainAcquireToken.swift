internal import AuthRefreshInterface
internal import TextEncodings
internal import Varlink

/// The plainest call of `AcquireToken`, which mail clients make all day. It is answered on the socket's thread if the
/// `TokenMap` has the token. All other calls and answers go to the coordinator.
struct PlainAcquireToken {
    let account: String
    let minimumValidity: Duration?

    /// Returns nil for any other call, and for an invalid one.
    init?(_ call: VarlinkCall) {
        guard call.method == Method.acquireToken.rawValue, let parameters = call.parameters else { return nil }
        var account: String?
        var seconds: Int64?
        for (name, value) in parameters.fields {
            if name.string == "account" {
                guard account == nil, let text = value.string else { return nil }
                account = text
            } else if name.string == "minimumValiditySec" {
                guard seconds == nil, let number = value.integer else { return nil }
                seconds = number
            } else {
                return nil
            }
        }
        guard let account, seconds.map(AcquireToken.Parameters.isValid(minimumValiditySec:)) ?? true else { return nil }
        self.account = account
        minimumValidity = seconds.map { .seconds($0) }
    }
}

extension AcquireToken.Parameters {
    /// Whether it is at most a year. No token lives longer.
    static func isValid(minimumValiditySec seconds: Int64) -> Bool {
        (0...31_557_600).contains(seconds)
    }
}
