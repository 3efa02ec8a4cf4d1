/// The sign-ins under way at the server: requests, codes and devices.
///
/// Like the ledger, it is a value without a clock. Times count from the Unix epoch.
struct SignInDesk {
    /// An application's request for a person's consent (RFC 6749 §4.1.1).
    struct Request: Equatable {
        var clientID: String
        var redirectURI: String
        var state: String?
        var scope: String
        /// `code_challenge` with the method S256 (RFC 7636 §4.3); nil if there was none.
        var challenge: String?
        var nonce: String?
        /// `code`, `code id_token` or `id_token`.
        var responseType = "code"
        var isFormPost: Bool
        /// The types in `authorization_details` (RFC 9396 §2); empty if there are none.
        var detailTypes: [String] = []
        /// The person that the page suggests.
        var loginHint: String?
        /// The policy in the address (`p`), as in Azure AD B2C; nil if there is none.
        var policy: String?

        var givesCode: Bool { responseType != "id_token" }
        var givesIDToken: Bool { responseType != "code" }
    }

    /// What a code was issued for.
    struct IssuedCode: Equatable {
        var request: Request
        var subject: String
        var issuedAt: Duration
        /// The grant that it was exchanged for; nil before that.
        var family: Int?
    }

    /// A device that waits for a person (RFC 8628 §3.2).
    struct Device: Equatable {
        enum Decision: Equatable {
            case approved(subject: String)
            case denied
        }

        var clientID: String
        var scope: String
        var userCode: String
        var issuedAt: Duration
        var interval: Duration
        var lastPoll: Duration?
        var decision: Decision?
    }

    /// The lifetime of a code. RFC 6749 §4.1.2 allows ten minutes and recommends less.
    static let codeLifetime = Duration.seconds(60)
    /// How long a person may take to enter a device's code.
    static let deviceCodeLifetime = Duration.seconds(600)

    /// The newest values of a kind, by a name that nobody can guess.
    struct Recent<Value> {
        /// The most values; the oldest is removed first. It limits what a test that never decides can leave behind.
        private static var most: Int { 1000 }

        private(set) var values: [String: Value] = [:]
        private var order: [String] = []

        subscript(name: String) -> Value? {
            get { values[name] }
            set {
                if values[name] == nil, newValue != nil { order.append(name) }
                values[name] = newValue
                if order.count > Self.most { values[order.removeFirst()] = nil }
            }
        }
    }

    /// The requests that a page asks about, by the page's ID. Each can be decided once.
    var requests = Recent<Request>()
    var codes = Recent<IssuedCode>()
    var devices = Recent<Device>()

    /// The device whose code the person typed, in any spelling.
    func deviceCode(for typed: String) -> String? {
        let letters = { (text: String) in text.uppercased().filter { $0.isLetter || $0.isNumber } }
        return devices.values.first { letters($0.value.userCode) == letters(typed) }?.key
    }
}
