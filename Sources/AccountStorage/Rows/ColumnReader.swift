import Foundation
import GRDB
import RefreshCore

/// Reads the columns of a row one after the other, in the order in which they were written.
struct ColumnReader {
    /// The highest count that is accepted. It is far above any real count, and one can always be added to it.
    private static let highest: Int64 = 1 << 53

    /// The times and lengths of time that columns may hold, in µs: 36,000 years, so that sums of two of them fit 64 bits.
    private static let plausibleTimes: ClosedRange<Int64> = -(1 << 60)...(1 << 60)

    private let row: Row
    private let account: AccountID
    private var index: Int

    /// Reads `row`, which holds `AccountColumns.recordNames`, from column `index` on. Errors name `account`.
    init(_ row: Row, account: AccountID, from index: Int) {
        self.row = row
        self.account = account
        self.index = index
    }

    mutating func integer() -> Int64? {
        defer { index += 1 }
        return row[index]
    }

    mutating func text() -> String? {
        defer { index += 1 }
        return row[index]
    }

    mutating func bytes() -> Data? {
        defer { index += 1 }
        return row[index]
    }

    mutating func duration() throws(StoreError) -> Duration? {
        guard let count = try integer(in: Self.plausibleTimes) else { return nil }
        return .microseconds(count)
    }

    mutating func timestamp() throws(StoreError) -> Timestamp? {
        guard let count = try integer(in: Self.plausibleTimes) else { return nil }
        return Timestamp(microseconds: count)
    }

    mutating func generation() throws(StoreError) -> Generation? {
        guard let count = try integer(in: 0...Self.highest) else { return nil }
        return Generation(count)
    }

    mutating func count() throws(StoreError) -> Int? {
        guard let count = try integer(in: 0...Self.highest) else { return nil }
        return Int(count)
    }

    mutating func accountName() throws(StoreError) -> AccountName? {
        let column = index
        guard let text = text() else { return nil }
        guard let name = AccountName(text) else { throw damage(of: column, .malformed) }
        return name
    }

    mutating func flag() -> Bool? {
        integer().map { $0 != 0 }
    }

    /// The three columns of a moment; nil unless all of them are there.
    mutating func moment() throws(StoreError) -> Moment? {
        let (wall, bootID, boot) = (try timestamp(), integer(), integer())
        guard let wall, let bootID, let boot else { return nil }
        return Moment(wall: wall, boot: BootTime(bootID: bootID, microseconds: boot))
    }

    /// The value of a column that must not be NULL.
    func required<Value>(
        _ value: Value?,
        _ column: String,
        _ flaw: ColumnFinding = .missing
    ) throws(StoreError) -> Value {
        guard let value else { throw .damagedRow(account, column: column, flaw) }
        return value
    }

    /// The case whose raw value is in the next column; nil if it is NULL.
    mutating func choice<Choice: RawRepresentable<String>>(_: Choice.Type) throws(StoreError) -> Choice? {
        let column = index
        guard let text = text() else { return nil }
        guard let choice = Choice(rawValue: text) else { throw damage(of: column, .unknownWord) }
        return choice
    }

    private mutating func integer(in range: ClosedRange<Int64>) throws(StoreError) -> Int64? {
        let column = index
        guard let number = integer() else { return nil }
        guard range.contains(number) else { throw damage(of: column, .outOfRange) }
        return number
    }

    private func damage(of column: Int, _ flaw: ColumnFinding) -> StoreError {
        .damagedRow(account, column: AccountColumns.recordNames[column], flaw)
    }
}

/// The values for a statement's parameters.
typealias ColumnValues = [SQLValue]

extension ColumnValues {
    mutating func append(_ number: Int64?) { append(SQLValue(number)) }
    mutating func append(_ number: Int?) { append(SQLValue(number)) }
    mutating func append(_ flag: Bool?) { append(SQLValue(flag)) }
    mutating func append(_ text: String?) { append(SQLValue(text)) }

    /// Adds the three columns of a moment.
    mutating func append(moment: Moment?) {
        append(moment?.wall.microseconds)
        append(moment?.boot.bootID)
        append(moment?.boot.microseconds)
    }
}
