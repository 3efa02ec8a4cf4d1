import Foundation
import GRDB
import RefreshCore
import Testing

@testable import AccountStorage

/// Stored metadata of servers, for the time after a restart.
struct ServerMetadataTests {
    private let folder: TemporaryFolder
    private let store: AccountStore
    private let issuer: Issuer

    init() throws {
        folder = try TemporaryFolder()
        store = try folder.open()
        issuer = try Issuer(url: Sample.issuerURL)
        _ = try store.add(Sample.account("a"))
    }

    private func documents(_ texts: String..., day: Int64) -> ServerMetadataTable.Documents {
        ServerMetadataTable.Documents(
            documents: texts.map { Data($0.utf8) },
            fetchedAt: Sample.start + .seconds(day * 86_400)
        )
    }

    @Test func `documents are stored with their age, separately for each CA file`() throws {
        let plain = documents("{}", "{ }", day: 0)
        let private1 = documents("{  }", day: 1)
        try store.serverMetadata.keep(plain, of: issuer, caFile: "")
        try store.serverMetadata.keep(private1, of: issuer, caFile: "/ca.pem")
        #expect(try store.serverMetadata.documents(of: issuer, caFile: "/other.pem") == nil)
        try store.close()
        let again = try folder.open()
        #expect(try again.serverMetadata.documents(of: issuer, caFile: "") == plain)
        #expect(try again.serverMetadata.documents(of: issuer, caFile: "/ca.pem") == private1)
        let newer = documents("{}", "{ }", day: 3)
        try again.serverMetadata.keep(newer, of: issuer, caFile: "")
        #expect(try again.serverMetadata.documents(of: issuer, caFile: "") == newer)
    }

    @Test func `unchanged documents are not written again within a day`() throws {
        try store.serverMetadata.keep(documents("{}", day: 0), of: issuer, caFile: "")
        let changes = try store.inDatabase { $0.totalChangesCount }
        let later = ServerMetadataTable.Documents(
            documents: [Data("{}".utf8)],
            fetchedAt: Sample.start + .seconds(3600)
        )
        try store.serverMetadata.keep(later, of: issuer, caFile: "")
        #expect(try store.inDatabase { $0.totalChangesCount } == changes)
    }

    @Test func `documents are stored only for issuers with accounts, up to a limit`() throws {
        try store.serverMetadata.keep(documents("{}", day: 0), of: Issuer(url: "https://stranger.example"), caFile: "")
        for number in 0..<ServerMetadataTable.limit + 5 {
            try store.serverMetadata.keep(documents("{}", day: Int64(number)), of: issuer, caFile: "/\(number)")
        }
        let count = try store.inDatabase { try Int.fetchOne($0, sql: "SELECT count(*) FROM server_metadata") }
        #expect(count == ServerMetadataTable.limit)
        #expect(try store.serverMetadata.documents(of: issuer, caFile: "/4") == nil)
        #expect(try store.serverMetadata.documents(of: issuer, caFile: "/5") != nil)
    }
}
