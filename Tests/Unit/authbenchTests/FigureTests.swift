import Testing

@testable import authbench

struct FigureTests {
    @Test(arguments: [
        (Figure.Limit.timesFloor(atMost: 1.5), 150.0, true), (.timesFloor(atMost: 1.5), 151, false),
        (.partOfFloor(atLeast: 0.6), 60, true), (.partOfFloor(atLeast: 0.6), 59, false),
        (.value(atMost: 80), 80, true), (.value(atMost: 80), 81, false),
    ])
    func `a figure is compared with its limit`(_ limit: Figure.Limit, _ value: Double, _ isMet: Bool) {
        let figure = Figure(name: "a/b", value: value, unit: .microseconds, floor: 100, limit: limit)
        #expect(figure.isMet == isMet)
    }

    @Test func `a limit that needs a floor is not met without one`() {
        let figure = Figure(name: "a/b", value: 1, unit: .microseconds, limit: .timesFloor(atMost: 2))
        #expect(!figure.isMet)
        #expect(figure.ratio == nil)
    }

    @Test func `the median is the middle value`() {
        #expect([3, 1, 2].median == 2)
        #expect([4, 1, 2, 3].median == 3)
        #expect([Double]().median == 0)
    }

    @Test func `a line of JSON has every member, with null for missing values`() {
        let figure = Figure(name: "a/b", value: 1234.5678, unit: .microseconds, limit: .value(atMost: 2000))
        #expect(
            figure.json
                == #"{"bench":"a/b","value":1234.57,"unit":"µs","floor":null,"ratio":null,"limit":2000.00,"met":true}"#
        )
    }

    @Test func `a line of JSON rounds to significant digits`() {
        let figure = Figure(name: "a/b", value: 3, unit: .perSecond, floor: 9, limit: .partOfFloor(atLeast: 0.6))
        #expect(
            figure.json
                == #"{"bench":"a/b","value":3.0000,"unit":"1/s","floor":9.0000,"ratio":0.3333,"limit":0.6000,"met":false}"#
        )
    }
}
