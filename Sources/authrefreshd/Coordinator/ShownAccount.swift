internal import AccountStorage
internal import RefreshCore

/// An account as callers are shown it: where it stands, or that it cannot be read.
enum ShownAccount: Sendable {
    case whole(AccountSnapshot)
    case damaged(DamagedAccount)

    var id: AccountID {
        switch self {
        case .whole(let snapshot): snapshot.account.id
        case .damaged(let account): account.id
        }
    }

    var name: String {
        switch self {
        case .whole(let snapshot): snapshot.account.name.text
        case .damaged(let account): account.name
        }
    }
}
