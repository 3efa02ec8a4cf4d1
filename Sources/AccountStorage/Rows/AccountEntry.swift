package import RefreshCore

/// One account as it was found in the store: whole, or damaged.
///
/// Damage is a finding, not a failure: one row that cannot be read must not keep the others from being served.
package enum AccountEntry: Equatable, Sendable {
    case intact(Record)
    case damaged(DamagedAccount)

    package var id: AccountID {
        switch self {
        case .intact(let record): record.account.id
        case .damaged(let account): account.id
        }
    }

    /// The stored name; a damaged one may break the rule for names.
    package var name: String {
        switch self {
        case .intact(let record): record.account.name.text
        case .damaged(let account): account.name
        }
    }

    /// - Throws: the damage.
    package func record() throws(StoreError) -> Record {
        switch self {
        case .intact(let record): return record
        case .damaged(let account): throw account.cause
        }
    }
}

/// An account whose row cannot be read.
package struct DamagedAccount: Equatable, Sendable {
    package let id: AccountID
    /// As it is stored: if the name itself is damaged, this is no `AccountName`.
    package let name: String
    /// Nil if that cannot be read either.
    package let issuer: Issuer?
    /// Which column is damaged, and how: `damagedRow` or `sealBroken`. Never a value.
    package let cause: StoreError

    package init(id: AccountID, name: String, issuer: Issuer?, cause: StoreError) {
        self.id = id
        self.name = name
        self.issuer = issuer
        self.cause = cause
    }
}

/// What is wrong with a column of an account's row.
package enum ColumnFlaw: Hashable, Sendable {
    /// It is empty, or refers to nothing.
    case missing
    /// It holds a word that this version does not know; a later one may.
    case unknownWord
    case notJSON
    /// Its text breaks the rule for such a text.
    case malformed
    /// Its number is no time, no length of time or no count that can have been written.
    case outOfRange
}

extension StoreError {
    /// The account whose row is damaged; nil if it is not about one account.
    package var damagedAccount: AccountID? {
        switch self {
        case .sealBroken(let account, _), .damagedRow(let account, _, _): account
        // All other cases are about the file as a whole, or about the call.
        default: nil
        }
    }
}
