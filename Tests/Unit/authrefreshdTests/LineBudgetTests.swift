import Testing

@testable import authrefreshd

final class LineBudgetTests {
    private var budget = LineBudget<String>(linesMax: 3, subjectsMax: 2, stretch: .seconds(60))
    private let start = ContinuousClock.now

    private func spend(_ count: Int, on subject: String = "a", after time: Duration) -> [Int?] {
        (0..<count).map { _ in budget.spend(on: subject, at: start + time) }
    }

    @Test func `excess lines are counted, and their number is written with the next line`() {
        #expect(spend(5, after: .zero) == [0, 0, 0, nil, nil])
        #expect(spend(1, after: .seconds(59)) == [nil])
        // After `refusalStretch`.
        #expect(spend(5, after: .seconds(60)) == [3, 0, 0, nil, nil])
        #expect(spend(2, after: .seconds(86_400)) == [2, 0])
    }

    @Test func `a stretch begins with its first line`() {
        #expect(spend(1, after: .seconds(50)) == [0])
        #expect(spend(3, after: .seconds(109)) == [0, 0, nil])
        #expect(spend(1, after: .seconds(110)) == [1])
    }

    @Test func `a subject with too many lines hides no other, and the next line has the count`() {
        #expect(spend(5, on: "a", after: .zero) == [0, 0, 0, nil, nil])
        #expect(spend(4, on: "b", after: .seconds(1)) == [2, 0, 0, nil])
        #expect(spend(1, on: "a", after: .seconds(2)) == [nil])
        #expect(spend(1, on: "b", after: .seconds(60)) == [2])
    }

    @Test func `subjects beyond the limit share one budget`() {
        // `refusalSubjectsMax` is 2 here.
        #expect(spend(1, on: "a", after: .zero) == [0])
        #expect(spend(1, on: "b", after: .zero) == [0])
        for subject in ["c", "d", "e"] { #expect(spend(1, on: subject, after: .seconds(1)) == [0]) }
        for subject in ["c", "f"] { #expect(spend(1, on: subject, after: .seconds(2)) == [nil]) }
        // The subjects that came first keep their budgets.
        #expect(spend(3, on: "b", after: .seconds(3)) == [2, 0, nil])
        // In a new stretch the places are free again.
        #expect(spend(3, on: "f", after: .seconds(60)) == [1, 0, 0])
    }
}
