import AuthRefreshInterface
import authimport
import Testing

@Suite struct SourceProgramTests {
    @Test func `every program has a name of its own`() {
        #expect(Set(SourceProgram.allCases.map(\.rawValue)).count == SourceProgram.allCases.count)
    }
}
