import Testing

@testable import authrefreshd

struct LineBudgetTests {
    private let budget = LineBudget(linesMax: 3, stretch: .seconds(60))
    private let start = ContinuousClock.now

    private func spend(_ count: Int, after time: Duration) -> [Int?] {
        (0..<count).map { _ in budget.spend(at: start + time) }
    }

    @Test func `lines that are too many are counted, and told of with the next`() {
        #expect(spend(5, after: .zero) == [0, 0, 0, nil, nil])
        #expect(spend(1, after: .seconds(59)) == [nil])
        #expect(spend(5, after: .seconds(60)) == [3, 0, 0, nil, nil])
        #expect(spend(2, after: .seconds(86_400)) == [2, 0])
    }

    @Test func `a stretch begins with its first line`() {
        #expect(spend(1, after: .seconds(50)) == [0])
        #expect(spend(3, after: .seconds(109)) == [0, 0, nil])
        #expect(spend(1, after: .seconds(110)) == [1])
    }
}
