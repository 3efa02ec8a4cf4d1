import Foundation
import GRDB
import RefreshCore

/// Reads the columns of a row one after the other, in the order in which they are written.
struct ColumnReader {
    private let row: Row
    private let account: AccountID
    private var index: Int

    /// Reads `row` from column `index` on; `account` is named if a column is damaged.
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

    mutating func duration() -> Duration? {
        integer().map { .microseconds($0) }
    }

    mutating func timestamp() -> Timestamp? {
        integer().map(Timestamp.init(microseconds:))
    }

    mutating func generation() -> Generation? {
        integer().map(Generation.init)
    }

    mutating func flag() -> Bool? {
        integer().map { $0 != 0 }
    }

    /// The three columns of a moment; nil unless all of them are there.
    mutating func moment() -> Moment? {
        let (wall, bootID, boot) = (integer(), integer(), integer())
        guard let wall, let bootID, let boot else { return nil }
        return Moment(
            wall: Timestamp(microseconds: wall),
            boot: BootTime(bootID: bootID, microseconds: boot)
        )
    }

    /// The value that a column must have.
    func required<Value>(_ value: Value?, _ column: String) throws(StoreError) -> Value {
        guard let value else { throw .damagedRow(account, column: column) }
        return value
    }

    /// The case whose raw value the next column holds; nil if it is NULL.
    mutating func choice<Choice: RawRepresentable<String>>(
        _: Choice.Type,
        _ column: String
    ) throws(StoreError) -> Choice? {
        guard let text = text() else { return nil }
        return try required(Choice(rawValue: text), column)
    }
}

/// What a statement's parameters are given as.
typealias ColumnValues = [(any DatabaseValueConvertible)?]

extension ColumnValues {
    /// Adds the three columns of a moment.
    mutating func append(moment: Moment?) {
        append(moment?.wall.microseconds)
        append(moment?.boot.bootID)
        append(moment?.boot.microseconds)
    }
}
