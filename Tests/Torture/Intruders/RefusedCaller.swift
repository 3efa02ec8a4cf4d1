internal import Foundation
internal import TestSupport

/// A caller who is refused: the answers, and how long they take.
///
/// It is a program of its own, because it runs as another user. It waits for each answer before the next call, so that
/// the time includes only the daemon's work.
struct RefusedCaller {
    /// The results for one kind of call.
    struct Hearing {
        /// The answers, without the names and ids of processes.
        var answers: Set<String>
        /// The times in µs below which one in ten, half, and nine in ten lie.
        var tenth: Double
        var median: Double
        var ninetieth: Double
    }

    private static let script = """
        import json, random, re, socket, sys, time
        path, rounds, calls = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
        times, answers = [[] for call in calls], [set() for call in calls]
        def ask(call):
            caller = socket.socket(socket.AF_UNIX)
            caller.settimeout(120)
            caller.connect(path)
            answer = b""
            try:
                if call: caller.sendall(call.encode() + b"\\0")
                while not answer.endswith(b"\\0"):
                    piece = caller.recv(65536)
                    if not piece: break
                    answer += piece
            except (BrokenPipeError, ConnectionResetError): answer += caller.recv(65536)
            caller.close()
            return answer.rstrip(b"\\0").decode()
        for round in range(rounds):
            for number, call in random.sample(list(enumerate(calls)), len(calls)):
                start = time.perf_counter_ns()
                answer = ask(call)
                times[number].append(time.perf_counter_ns() - start)
                name = re.search('"account":"([^"]*)"', call)
                if name: answer = answer.replace(name[1], "NAME")
                answers[number].add(re.sub(r"pid [0-9]+", "pid", answer))
        for number, call in enumerate(calls):
            times[number].sort()
            print(json.dumps([sorted(answers[number])] + [times[number][rounds * part // 10] / 1000 for part in (1, 5, 9)]))
        """

    /// The words before the command of another caller; empty for the daemon's own user.
    var wrapper: [String] = []

    /// Makes each of the calls `rounds` times: all of them in each round, in random order, so that none always follows
    /// the same other one.
    ///
    /// - Parameter calls: the calls without their NUL. An empty one sends nothing, and waits.
    func hear(_ calls: [String], rounds: Int, at socket: String) async throws -> [Hearing] {
        let python = ["/usr/bin/python3", "-c", Self.script, socket, "\(rounds)"] + calls
        let words = wrapper.isEmpty ? python : ["/usr/bin/setpriv"] + wrapper + python
        let program = try Program(words[0], Array(words.dropFirst()), environment: ["PATH": "/usr/bin:/bin"])
        guard try await program.ended(within: .seconds(600)) == .exited(0) else {
            throw TestFault.failed(program: "a refused caller", errors: program.errorText)
        }
        return try program.output.all.map { try JSONDecoder().decode(Hearing.self, from: Data($0.utf8)) }
    }
}

extension RefusedCaller.Hearing: Decodable {
    init(from decoder: any Decoder) throws {
        var values = try decoder.unkeyedContainer()
        answers = try values.decode(Set<String>.self)
        tenth = try values.decode(Double.self)
        median = try values.decode(Double.self)
        ninetieth = try values.decode(Double.self)
    }
}
