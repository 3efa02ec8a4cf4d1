/// One figure of a bench, and whether it is good enough.
struct Figure: Sendable {
    /// What a figure is compared with.
    enum Limit: Sendable, Equatable {
        /// At most this many times the floor's value.
        case timesFloor(atMost: Double)
        /// At least this share of the floor's value.
        case partOfFloor(atLeast: Double)
        /// At most this value, with any floor.
        case value(atMost: Double)
    }

    /// The name `BENCH/WHAT`, the same in every run.
    let name: String
    let value: Double
    let unit: Unit
    /// The floor's value; nil if there is none.
    var floor: Double?
    var limit: Limit
    /// The value of Debian's oidc-agent; nil if it is not installed or has no such function.
    var oidcAgent: Double?

    var ratio: Double? { floor.map { value / $0 } }

    var isMet: Bool {
        switch limit {
        case .timesFloor(let most): ratio.map { $0 <= most } ?? false
        case .partOfFloor(let least): ratio.map { $0 >= least } ?? false
        case .value(let most): value <= most
        }
    }

    /// The limit's number. The figure's name says what it is compared with.
    private var limitNumber: Double {
        switch limit {
        case .timesFloor(let number), .partOfFloor(let number), .value(let number): number
        }
    }
}

extension Figure {
    /// One JSON object on one line.
    var json: String {
        var members = [
            "\"bench\":\"\(name)\"", "\"value\":\(Self.number(value))", "\"unit\":\"\(unit.rawValue)\"",
            "\"floor\":\(Self.number(floor))", "\"ratio\":\(Self.number(ratio))",
            "\"limit\":\(Self.number(limitNumber))", "\"met\":\(isMet)",
        ]
        if let oidcAgent { members.append("\"oidcAgent\":\(Self.number(oidcAgent))") }
        return "{\(members.joined(separator: ","))}"
    }

    private static func number(_ value: Double?) -> String {
        value.map { $0.rounded(digits: abs($0) < 10 ? 4 : 2) } ?? "null"
    }
}

/// The unit of a figure.
enum Unit: String, Sendable {
    case microseconds = "µs"
    case milliseconds = "ms"
    case mebibytes = "MiB"
    case perSecond = "1/s"
    case calls
}

extension [Double] {
    /// The median; the upper middle value of an even number, 0 of none.
    var median: Double { isEmpty ? 0 : sorted()[count / 2] }
}

extension Double {
    /// Text with this many digits after the point, without an exponent. Foundation's formatter is not used, because
    /// digits need no locale.
    func rounded(digits: Int) -> String {
        let scale = (0..<digits).reduce(1.0) { scale, _ in scale * 10 }
        let whole = String(UInt64((magnitude * scale).rounded()))
        let filled = String(repeating: "0", count: max(0, digits + 1 - whole.count)) + whole
        let sign = self < 0 ? "-" : ""
        return digits == 0 ? sign + whole : "\(sign)\(filled.dropLast(digits)).\(filled.suffix(digits))"
    }
}
