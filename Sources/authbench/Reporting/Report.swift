internal import Glibc

/// Prints figures as they come, and records whether all of them are within their limits.
struct Report {
    private let isJSON: Bool
    private(set) var isEveryLimitMet = true

    init(isJSON: Bool) {
        self.isJSON = isJSON
        guard !isJSON else { return }
        Self.write(to: STDOUT_FILENO, Self.row("", ["value", "", "floor", "ratio", "limit", "oidc-agent", ""]))
    }

    func begin(_ bench: Bench) {
        Self.note("\(bench.rawValue): \(bench.summary)")
    }

    mutating func add(_ figure: Figure) {
        isEveryLimitMet = isEveryLimitMet && figure.isMet
        Self.write(to: STDOUT_FILENO, isJSON ? figure.json : Self.line(figure))
    }

    func end() {
        Self.note(isEveryLimitMet ? "every limit is met" : "not every limit is met")
    }

    static func fail(_ error: BenchError) {
        write(to: STDERR_FILENO, "authbench: error: \(error)")
        if let hint = error.hint { write(to: STDERR_FILENO, "authbench: hint: \(hint)") }
    }

    /// Prints what is going on to standard error.
    static func note(_ text: String) {
        write(to: STDERR_FILENO, "authbench: \(text)")
    }

    /// Writes a line at once, so that each figure appears as soon as it is measured.
    private static func write(to descriptor: Int32, _ text: String) {
        _ = unsafe "\(text)\n".withCString { unsafe Glibc.write(descriptor, $0, strlen($0)) }
    }

    // MARK: Forms

    private static func line(_ figure: Figure) -> String {
        let digits = figure.unit == .calls || abs(figure.value) >= 1000 ? 0 : 2
        let show = { (value: Double?) in value.map { $0.rounded(digits: digits) } ?? "" }
        let limit =
            switch figure.limit {
            case .timesFloor(let most): "≤ \(most.rounded(digits: 2)) ×"
            case .partOfFloor(let least): "≥ \(least.rounded(digits: 2)) ×"
            case .value(let most): "≤ \(most.rounded(digits: most < 1 ? 2 : 0))"
            }
        let ratio = figure.ratio.map { "\($0.rounded(digits: 2)) ×" } ?? ""
        let verdict = figure.isMet ? "met" : "NOT MET"
        return row(
            figure.name,
            [
                show(figure.value), figure.unit.rawValue, show(figure.floor), ratio, limit, show(figure.oidcAgent),
                verdict,
            ]
        )
    }

    private static func row(_ name: String, _ cells: [String]) -> String {
        let widths = [10, 5, 10, 8, 9, 10, 8]
        let padded = zip(cells, widths).map { cell, width in
            String(repeating: " ", count: max(0, width - cell.count)) + cell
        }
        let title = name + String(repeating: " ", count: max(0, 34 - name.count))
        return title + padded.joined(separator: " ")
    }
}
