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

    private func keep(_ texts: String..., at time: Duration, caFile: String = "", in store: AccountStore) throws {
        let documents = texts.map { Array($0.utf8) }
        try store.serverMetadata.keep(documents, fetchedAt: Sample.start + time, of: issuer, caFile: caFile)
    }

    /// Whether exactly these documents are stored, with this age.
    private func holds(
        _ texts: String...,
        at time: Duration,
        caFile: String = "",
        in store: AccountStore
    ) throws -> Bool {
        let kept = try store.serverMetadata.documents(of: issuer, caFile: caFile)
        return kept?.documents == texts.map { Array($0.utf8) } && kept?.fetchedAt == Sample.start + time
    }

    @Test func `documents are stored with their age, separately for each CA file`() throws {
        let day = Duration.seconds(86_400)
        try keep("{}", "{ }", at: .zero, in: store)
        try keep("{  }", at: day, caFile: "/ca.pem", in: store)
        #expect(try store.serverMetadata.documents(of: issuer, caFile: "/other.pem") == nil)
        try store.close()
        let again = try folder.open()
        #expect(try holds("{}", "{ }", at: .zero, in: again))
        #expect(try holds("{  }", at: day, caFile: "/ca.pem", in: again))
        try keep("{}", "{ }", at: day * 3, in: again)
        #expect(try holds("{}", "{ }", at: day * 3, in: again))
    }

    @Test func `unchanged documents are not written again within a day`() throws {
        try keep("{}", at: .zero, in: store)
        let changes = try store.inDatabase { $0.totalChangesCount }
        try keep("{}", at: .seconds(3600), in: store)
        #expect(try store.inDatabase { $0.totalChangesCount } == changes)
    }

    @Test func `documents are stored only for issuers with accounts, up to a limit`() throws {
        let stranger = try Issuer(url: "https://stranger.example")
        try store.serverMetadata.keep([Array("{}".utf8)], fetchedAt: Sample.start, of: stranger, caFile: "")
        for number in 0..<ServerMetadataTable.limit + 5 {
            try keep("{}", at: .seconds(number * 86_400), caFile: "/\(number)", in: store)
        }
        let count = try store.inDatabase { try Int.fetchOne($0, sql: "SELECT count(*) FROM server_metadata") }
        #expect(count == ServerMetadataTable.limit)
        #expect(try store.serverMetadata.documents(of: issuer, caFile: "/4") == nil)
        #expect(try store.serverMetadata.documents(of: issuer, caFile: "/5") != nil)
    }
}
