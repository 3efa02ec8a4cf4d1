internal import AuthRefreshInterface

/// Figures in the text format of Prometheus (exposition format 0.0.4).
///
/// It computes with 128 bits, because the daemon's numbers may be any of 64 bits.
struct MetricsText {
    private(set) var text = ""

    init(_ metrics: GetMetrics.Reply) {
        addDaemon(metrics)
        addAccounts(metrics)
        addRequests(metrics)
    }

    private mutating func addDaemon(_ metrics: GetMetrics.Reply) {
        begin("authrefresh_info", .gauge, "The daemon's version.")
        add("authrefresh_info", ["version": metrics.version], "1")
        let (start, now) = (Self.seconds(metrics.startedAtUSec), Self.seconds(metrics.atUSec))
        addGauge("authrefresh_start_time_seconds", "When the daemon was started, in seconds since 1970.", start)
        addGauge("authrefresh_collect_time_seconds", "When these figures were taken, in seconds since 1970.", now)
        addGauge("authrefresh_online", "Whether the machine has a network route.", metrics.online ? "1" : "0")
    }

    private mutating func addAccounts(_ metrics: GetMetrics.Reply) {
        begin("authrefresh_accounts", .gauge, "How many accounts are in this state.")
        for (state, count) in metrics.states.sorted(by: { $0.key < $1.key }) {
            add("authrefresh_accounts", ["state": state], "\(count)")
        }
        let left = Self.sum(metrics.states.values) - Int128(metrics.accounts.count)
        let help = "How many accounts have no figures of their own below."
        addGauge("authrefresh_accounts_not_named", help, "\(max(left, 0))")
        begin("authrefresh_account_state", .gauge, "The account is in this state.")
        for account in metrics.accounts {
            add("authrefresh_account_state", ["account": account.account, "state": account.state], "1")
        }
        begin(
            "authrefresh_access_token_expires_in_seconds",
            .gauge,
            "How long the access token was valid when these figures were taken; negative once it has expired."
        )
        for account in metrics.accounts {
            guard let end = account.expiresAtUSec else { continue }
            let left = Self.seconds(Int128(end) - Int128(metrics.atUSec))
            add("authrefresh_access_token_expires_in_seconds", ["account": account.account], left)
        }
    }

    private mutating func addRequests(_ metrics: GetMetrics.Reply) {
        begin("authrefresh_refreshes_total", .counter, "Token requests that brought a token.")
        add("authrefresh_refreshes_total", [:], "\(metrics.requestsSucceeded)")
        begin(
            "authrefresh_refresh_failures_total",
            .counter,
            "Token requests that brought none, by the class of failure."
        )
        for (name, count) in metrics.requestsFailed.sorted(by: { $0.key < $1.key }) {
            add("authrefresh_refresh_failures_total", ["class": name], "\(count)")
        }
        let name = "authrefresh_token_request_duration_seconds"
        begin(name, .histogram, "How long token requests took.")
        var below: Int128 = 0
        for (end, count) in zip(metrics.bucketEndsMs, metrics.buckets) {
            below += Int128(count)
            add(name + "_bucket", ["le": Self.seconds(Int128(end) * 1000)], "\(below)")
        }
        let all = Self.sum(metrics.buckets)
        add(name + "_bucket", ["le": "+Inf"], "\(all)")
        add(name + "_sum", [:], Self.seconds(Int128(metrics.requestsMs) * 1000))
        add(name + "_count", [:], "\(all)")
    }

    private enum Kind: String {
        case gauge, counter, histogram
    }

    private mutating func begin(_ name: String, _ kind: Kind, _ help: String) {
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(kind.rawValue)\n"
    }

    private mutating func addGauge(_ name: String, _ help: String, _ value: String) {
        begin(name, .gauge, help)
        add(name, [:], value)
    }

    private mutating func add(_ name: String, _ labels: [String: String], _ value: String) {
        let parts = labels.sorted { $0.key < $1.key }.map { "\($0.key)=\"\(Self.escaped($0.value))\"" }
        text += name + (parts.isEmpty ? "" : "{\(parts.joined(separator: ","))}") + " \(value)\n"
    }

    private static func escaped(_ value: String) -> String {
        var text = ""
        for character in value.unicodeScalars {
            switch character {
            case "\\": text += "\\\\"
            case "\"": text += "\\\""
            case "\n": text += "\\n"
            case let other: text.unicodeScalars.append(other)
            }
        }
        return text
    }

    private static func sum(_ numbers: some Sequence<Int64>) -> Int128 {
        numbers.reduce(0) { $0 + Int128($1) }
    }

    /// Microseconds as seconds, without rounding: `-0.5`, `1764050000.25`.
    static func seconds(_ microseconds: some FixedWidthInteger) -> String {
        let (whole, part) = microseconds.magnitude.quotientAndRemainder(dividingBy: 1_000_000)
        var text = (microseconds < 0 ? "-" : "") + "\(whole)"
        guard part > 0 else { return text }
        var digits = String(repeating: "0", count: 6 - "\(part)".count) + "\(part)"
        while digits.last == "0" { digits.removeLast() }
        text += "." + digits
        return text
    }
}
