/// One figure of a bench, and whether it is good enough.
struct Figure: Sendable {
    /// What a figure is held against.
    enum Limit: Sendable, Equatable {
        /// At most this many times the floor's value.
        case timesFloor(atMost: Double)
        /// At least this part of the floor's value.
        case partOfFloor(atLeast: Double)
        /// At most this value, whatever the floor.
        case value(atMost: Double)
        /// It is shown, and not judged.
        case none
    }

    /// `BENCH/WHAT`, the same in every run.
    let name: String
    let value: Double
    let unit: Unit
    /// The same of the floor; nil if there is none.
    var floor: Double?
    var limit: Limit
    /// The same of Debian's oidc-agent; nil if it is not installed or does nothing of the kind.
    var oidcAgent: Double?

    var ratio: Double? { floor.map { value / $0 } }

    var isMet: Bool {
        switch limit {
        case .timesFloor(let most): ratio.map { $0 <= most } ?? false
        case .partOfFloor(let least): ratio.map { $0 >= least } ?? false
        case .value(let most): value <= most
        case .none: true
        }
    }

    /// The limit's number; what it is held against, the name of the figure tells.
    private var limitNumber: Double? {
        switch limit {
        case .timesFloor(let number), .partOfFloor(let number), .value(let number): number
        case .none: nil
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

/// What a figure counts.
enum Unit: String, Sendable {
    case microseconds = "µs"
    case milliseconds = "ms"
    case seconds = "s"
    case mebibytes = "MiB"
    case perSecond = "1/s"
    case calls
}

extension [Double] {
    /// The middle value; of an even number the upper of the two. 0 if there is none.
    var median: Double { isEmpty ? 0 : sorted()[count / 2] }
}

extension Double {
    /// As text with this many digits after the point, and no exponent. Not Foundation's formatter: digits need no locale.
    func rounded(digits: Int) -> String {
        let scale = (0..<digits).reduce(1.0) { scale, _ in scale * 10 }
        let whole = String(UInt64((magnitude * scale).rounded()))
        let filled = String(repeating: "0", count: max(0, digits + 1 - whole.count)) + whole
        let sign = self < 0 ? "-" : ""
        return digits == 0 ? sign + whole : "\(sign)\(filled.dropLast(digits)).\(filled.suffix(digits))"
    }
}
