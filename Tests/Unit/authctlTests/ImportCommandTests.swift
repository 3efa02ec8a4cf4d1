import authimport
import Testing

@testable import authctl

@Suite struct ImportCommandTests {
    @Test func `--from offers all programs that accounts can be taken over from`() {
        #expect(ImportCommand.Program.allCases.map(\.rawValue) == SourceProgram.allCases.map(\.rawValue))
    }
}
