/// The sign-ins that are under way at the server: what was asked for, and what was promised for it.
///
/// A value without a clock and without randomness of its own, as the ledger is. Times are counted from the Unix epoch.
struct SignInDesk {
    /// What an application asked for a person's consent to (RFC 6749 §4.1.1).
    struct Request: Equatable {
        var clientID: String
        var redirectURI: String
        var state: String?
        var scope: String
        /// `code_challenge` of the method S256 (RFC 7636 §4.3); nil if there was none.
        var challenge: String?
        var nonce: String?
        /// `code`, `code id_token` or `id_token`.
        var responseType = "code"
        var isFormPost: Bool
        /// The types that `authorization_details` (RFC 9396 §2) asks for; empty if it asks for none.
        var detailTypes: [String] = []
        /// Whom the page offers first.
        var loginHint: String?
        /// The policy that the address names (`p`), as Azure AD B2C's do; nil if it names none.
        var policy: String?

        var givesCode: Bool { responseType != "id_token" }
        var givesIDToken: Bool { responseType != "code" }
    }

    /// What a code stands for.
    struct IssuedCode: Equatable {
        var request: Request
        var subject: String
        var issuedAt: Duration
        /// The grant that it was exchanged for; nil until then.
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

    /// How long a code lives: RFC 6749 §4.1.2 allows ten minutes, and advises less.
    static let codeLifetime = Duration.seconds(60)
    /// Of each kind; the oldest goes first. It bounds what a test that never decides can leave here.
    private static let kept = 1000

    private var requests: [String: Request] = [:]
    private var requestOrder: [String] = []
    private var codes: [String: IssuedCode] = [:]
    private var codeOrder: [String] = []
    private var devices: [String: Device] = [:]
    private var deviceOrder: [String] = []

    /// Puts a request on the page `id`.
    mutating func ask(_ request: Request, as id: String) {
        requests[id] = request
        requestOrder.append(id)
        if requestOrder.count > Self.kept { requests[requestOrder.removeFirst()] = nil }
    }

    /// The request of a page, which can be decided on once.
    mutating func take(_ id: String) -> Request? {
        requests.removeValue(forKey: id)
    }

    mutating func promise(_ code: String, _ issued: IssuedCode) {
        codes[code] = issued
        codeOrder.append(code)
        if codeOrder.count > Self.kept { codes[codeOrder.removeFirst()] = nil }
    }

    func issued(_ code: String) -> IssuedCode? { codes[code] }

    /// Notes which grant a code was exchanged for.
    mutating func spend(_ code: String, for family: Int) {
        codes[code]?.family = family
    }

    mutating func add(_ device: Device, code: String) {
        devices[code] = device
        deviceOrder.append(code)
        if deviceOrder.count > Self.kept { devices[deviceOrder.removeFirst()] = nil }
    }

    subscript(device code: String) -> Device? {
        get { devices[code] }
        set { devices[code] = newValue }
    }

    /// The device whose code a person types, however they write it.
    func deviceCode(for typed: String) -> String? {
        let letters = { (text: String) in text.uppercased().filter { $0.isLetter || $0.isNumber } }
        return devices.first { letters($0.value.userCode) == letters(typed) }?.key
    }
}
