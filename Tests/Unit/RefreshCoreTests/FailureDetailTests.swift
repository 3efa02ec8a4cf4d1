import Foundation
import RefreshCore
import Testing

/// What the store has of a failure.
struct FailureDetailTests {
    @Test func `a stored finding stays, and one of a later version is none`() throws {
        let known = FailureDetail(summary: "it failed", finding: .clientAssertion)
        let text = String(decoding: try JSONEncoder().encode(known), as: UTF8.self)
        #expect(try JSONDecoder().decode(FailureDetail.self, from: Data(text.utf8)) == known)
        let later = text.replacing("clientAssertion", with: "laterFinding")
        let read = try JSONDecoder().decode(FailureDetail.self, from: Data(later.utf8))
        #expect(later != text && read == FailureDetail(summary: "it failed"))
    }
}
