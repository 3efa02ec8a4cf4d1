import Testing

/// The claims of the threat model are shown by tests that exist.
struct ThreatModelPageTests {
    /// The points under "Defended", each with its lines.
    private func claims() throws -> [String] {
        let page = try PageSources.page("Threat-model")
        let start = try #require(page.firstRange(of: "## Defended\n"))
        let end = try #require(page.firstRange(of: "\n## Not defended"))
        let claims = page[start.upperBound..<end.lowerBound].split(separator: "\n- **")
        return claims.map { String($0).replacing("\n ", with: "") }
    }

    @Test func `every claim names tests, and each of them exists and expects something`() throws {
        let texts = try PageSources.testTexts().filter { $0.value.contains(/#expect|#require|expect[A-Z][A-Za-z]*\(/) }
        let tests = try Set(texts.keys).union(PageSources.tortures())
        let claims = try claims()
        #expect(claims.count >= 10)
        for claim in claims {
            let shown = try #require(claim.split(separator: "Shown by:").dropFirst().first, "\(claim.prefix(60))")
            let named = shown.matches(of: /`([^`]+)`/).map { String($0.1) }
            #expect(!named.isEmpty, "\(claim.prefix(60))")
            #expect(Set(named).subtracting(tests).isEmpty, "\(claim.prefix(60))")
        }
    }
}
