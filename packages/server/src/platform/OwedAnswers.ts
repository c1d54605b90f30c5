import type { IncomingMessage, ServerResponse } from "node:http"
import type { Duplex } from "node:stream"

type Answer = ServerResponse<IncomingMessage>

/**
 * The answers that connections still owe. A client may send its next request before it has the
 * answer to the last: what is wrong with the next one must not be told in the last one's place.
 */
export class OwedAnswers {
  private readonly bySocket = new WeakMap<Duplex, Set<Answer>>()

  add(socket: Duplex, answer: Answer): void {
    let owed = this.bySocket.get(socket)
    if (owed === undefined) {
      owed = new Set()
      this.bySocket.set(socket, owed)
    }
    owed.add(answer)
    answer.once("close", () => owed.delete(answer))
  }

  /** Acts once all requests that came whole have their answers; one that did not is `unfinished`. */
  whenGiven(socket: Duplex, act: (unfinished: Answer | undefined) => void): void {
    const answers = [...(this.bySocket.get(socket) ?? [])]
    const last = answers.findLast(({ req }) => req.complete)
    if (last === undefined) return act(answers[0])
    socket.on("error", ignore)
    last.once("close", () => {
      socket.off("error", ignore)
      this.whenGiven(socket, act)
    })
  }
}

/** Whatever happens to the socket, it is its answers that are waited for. */
const ignore = () => {}
