internal import ArgumentParser

/// A duration on the command line: `20s`, `5m`, `1h`, or a number of seconds.
struct WholeSeconds: ExpressibleByArgument, Comparable, CustomStringConvertible {
    /// The longest accepted duration: a year.
    private static let most = 366 * 86400

    let count: Int

    var duration: Duration { .seconds(count) }
    var description: String { "\(count)s" }

    init(count: Int) {
        self.count = count
    }

    /// Returns nil unless it is digits with at most one unit.
    init?(argument: String) {
        let units: [Character: Int] = ["s": 1, "m": 60, "h": 3600]
        let unit = argument.last.flatMap { units[$0] }
        let digits = unit == nil ? argument[...] : argument.dropLast()
        // Int(_:) alone would accept a sign.
        guard digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }), let number = Int(digits)
        else { return nil }
        let (count, overflow) = number.multipliedReportingOverflow(by: unit ?? 1)
        guard !overflow, count <= Self.most else { return nil }
        self.count = count
    }

    static func < (left: WholeSeconds, right: WholeSeconds) -> Bool { left.count < right.count }
}
