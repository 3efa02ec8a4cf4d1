@testable internal import AccountStorage
internal import Foundation
internal import RefreshCore

/// The store's sealed columns, altered as somebody without the key could do it.
///
/// An input has four bytes that say what is altered, and then the secret or the column's bytes.
enum SealedColumns {
    private static let key = StoreKey(Secret((1...32).map { UInt8($0) }))

    static func run(_ input: [UInt8]) {
        guard let key else { return }
        var secret = input
        let alteration = (secret.takeByte(), secret.takeByte() << 8 | secret.takeByte(), secret.takeByte())
        let place = SealedPlace(account: AccountID(7), column: .refreshToken, generation: Generation(3))
        let sealer = Sealer(key)
        require((try? sealer.open(Data(input), at: place)) == nil, "nothing opens that was not sealed")
        guard var sealed = try? sealer.seal(Secret(secret), for: place) else {
            return require(false, "every secret can be sealed")
        }
        require((try? sealer.open(sealed, at: place)) == Secret(secret), "what was sealed opens")
        for other in others(of: place, alteration.0) {
            require((try? sealer.open(sealed, at: other)) == nil, "a sealed value opens nowhere else")
        }
        let index = sealed.startIndex + alteration.1 % sealed.count
        sealed[index] ^= UInt8(alteration.2 == 0 ? 1 : alteration.2)
        require((try? sealer.open(sealed, at: place)) == nil, "an altered value does not open")
        sealed[index] ^= UInt8(alteration.2 == 0 ? 1 : alteration.2)
        require(
            (try? sealer.open(sealed.prefix(alteration.1 % sealed.count), at: place)) == nil,
            "half a value does not open"
        )
    }

    private static func others(of place: SealedPlace, _ choice: Int) -> [SealedPlace] {
        let columns = SealedColumn.allCases.filter { $0 != place.column }
        var others = [place, place, place, place]
        others[0].account = AccountID(Int64(choice) + 8)
        others[1].column = columns[choice % columns.count]
        others[2].generation = Generation(Int64(choice) + 4)
        others[3].target = "target"
        return others
    }
}
